/// Reads the event log of a state directory, also while another process appends to it.
package final class EventLogReader {
    /// A line, with its line feed, and the position after it.
    package struct Line: Equatable, Sendable {
        /// The bytes.
        package let bytes: [UInt8]
        /// The position after it.
        package let end: EventPosition
    }

    /// The position up to which lines were read.
    package private(set) var position: EventPosition
    private let files: EventFiles
    private var chunk: [UInt8] = []
    private static let chunkByteCount = 1 << 16

    /// Reads from a position on.
    package init(
        stateDirectory: String, from position: EventPosition = .start, fileSystem: (any FileSystem)? = nil
    ) {
        self.position = position
        files = EventFiles(stateDirectory: stateDirectory, fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory))
    }

    /// The next whole lines, of at most 64 KiB together, or one longer line; none if there are no more now. Lines in files that
    /// were removed meanwhile are passed over.
    package func next() throws(JournalError) -> [Line] {
        try JournalError.wrapping { () throws(FileFailure) in
            var numbers = try files.numbers()
            while let number = numbers.first(where: { $0 >= position.file }) {
                if number > position.file { position = EventPosition(file: number, offset: 0) }
                let lines = try lines(of: number)
                if !lines.isEmpty { return lines }
                // The file may have got its last lines after it was read: it is complete only if the next one exists before the read.
                guard numbers.contains(where: { $0 > number }) else {
                    let later = try files.numbers()
                    guard later != numbers else { return [] }
                    numbers = later
                    continue
                }
                position = EventPosition(file: number + 1, offset: 0)
            }
            // The state directory was restored from a backup: its log begins anew.
            if let last = numbers.last, last < position.file {
                position = EventPosition(file: last, offset: 0)
                return try lines(of: last)
            }
            return []
        }
    }

    /// The whole lines at the position.
    private func lines(of number: UInt32) throws(FileFailure) -> [Line] {
        let lines = try lines(of: number, within: EventLogReader.chunkByteCount)
        // A line that is longer than a chunk fits the largest file.
        guard lines.isEmpty, chunk.count == EventLogReader.chunkByteCount else { return lines }
        return try self.lines(of: number, within: EventFiles.byteLimit)
    }

    private func lines(of number: UInt32, within byteCount: Int) throws(FileFailure) -> [Line] {
        chunk.removeAll()
        do throws(FileFailure) {
            let file = try files.fileSystem.open(files.path(of: number), .reading)
            defer { files.fileSystem.close(file) }
            try files.fileSystem.read(
                from: file, at: Int(position.offset), count: byteCount, into: &chunk)
        } catch {
            if error.isAbsence { return [] }
            throw error
        }
        var lines: [Line] = []
        var start = 0
        while let feed = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
            position.offset += UInt32(feed + 1 - start)
            lines.append(Line(bytes: Array(chunk[start...feed]), end: position))
            start = feed + 1
        }
        return lines
    }
}
