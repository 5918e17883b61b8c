import CollarJournal
import RadioModems

/// The dialects that were found at sticks before, in the file `sticks` of the state directory. Each line has a dialect and the
/// name of a stick.
///
/// The file only helps to tell a stick that does not answer from one that carries the serial line, so a file that cannot be read
/// or written is no error.
package struct StickMemory {
    private static let byteLimit = 65_536
    /// The most sticks that are remembered.
    private static let capacity = 256

    private let directory: String
    private let fileSystem: any FileSystem
    private var dialects: [(stick: String, dialect: Dialect)] = []

    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        directory = stateDirectory
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        self.fileSystem = fileSystem
        do throws(JournalError) {
            let bytes = try SmallFile.contents(of: path, byteLimit: StickMemory.byteLimit, fileSystem)
            dialects = StickMemory.dialects(in: String(decoding: bytes, as: UTF8.self))
        } catch {}
    }

    /// The dialects in the text of the file, those that were found last at the end.
    package static func dialects(in text: String) -> [(stick: String, dialect: Dialect)] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 1)
            guard words.count == 2, let dialect = Dialect(rawValue: String(words[0])) else { return nil }
            return (String(words[1]), dialect)
        }
    }

    private var path: String { directory + "/sticks" }

    /// The dialect that a stick spoke before; nil if it is not known.
    package func dialect(of stick: String) -> Dialect? { dialects.last { $0.stick == stick }?.dialect }

    package mutating func remember(_ dialect: Dialect, of stick: String) {
        guard self.dialect(of: stick) != dialect, !stick.contains("\n") else { return }
        dialects.removeAll { $0.stick == stick }
        dialects.append((stick, dialect))
        dialects.removeFirst(max(0, dialects.count - StickMemory.capacity))
        let text = dialects.map { "\($0.dialect.rawValue) \($0.stick)\n" }.joined()
        do throws(FileFailure) { try SmallFile.replace(path, in: directory, with: Array(text.utf8), fileSystem) } catch {}
    }
}
