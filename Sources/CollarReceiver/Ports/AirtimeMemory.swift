import CheckedNumbers
import CollarJournal

/// When sticks transmitted last, in the file `airtime` of the state directory, so that a restart gains no airtime: a region
/// limits what is sent in an hour.
package struct AirtimeMemory {
    /// The file is replaced at most once in this time, in milliseconds.
    private static let interval: Int64 = 600_000
    private static let hour: Int64 = 3_600_000

    private let directory: String
    private let fileSystem: any FileSystem
    /// The time in the file, in milliseconds since 1970; nil if there is none.
    private var noted: Int64?
    /// Whether the file could be read.
    private var isKnown = false

    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        directory = stateDirectory
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        self.fileSystem = fileSystem
        do throws(JournalError) {
            let text = String(decoding: try SmallFile.contents(of: path, fileSystem), as: UTF8.self)
            noted = Int64(text.filter { !$0.isWhitespace }, in: .unixMilliseconds)
            isKnown = text.isEmpty || noted != nil
        } catch {}
    }

    private var path: String { directory + "/airtime" }

    /// Whether nothing was transmitted in the last hour. A clock that went back proves nothing.
    package func isRested(at unixMilliseconds: Int64) -> Bool {
        guard isKnown else { return false }
        guard let noted else { return true }
        return unixMilliseconds - noted > AirtimeMemory.hour + AirtimeMemory.interval
    }

    /// A stick is about to transmit. If this cannot be noted, the next start takes the time in the file for that of the last
    /// transmission.
    package mutating func noteTransmission(at unixMilliseconds: Int64) {
        if let noted, abs(unixMilliseconds - noted) < AirtimeMemory.interval { return }
        noted = unixMilliseconds
        do throws(FileFailure) {
            try SmallFile.replace(path, in: directory, with: Array("\(unixMilliseconds)\n".utf8), fileSystem)
        } catch {}
    }
}
