import CheckedNumbers

/// A place between two lines of the event log.
package struct EventPosition: Comparable, Hashable, Sendable {
    /// Number of the file, from 1.
    package var file: UInt32
    /// Bytes from the start of the file.
    package var offset: UInt32

    package init(file: UInt32, offset: UInt32) {
        self.file = file
        self.offset = offset
    }

    package static let start = EventPosition(file: 1, offset: 0)

    /// Whether `left` is in an earlier file, or at a lower offset in the same one.
    package static func < (left: EventPosition, right: EventPosition) -> Bool {
        (left.file, left.offset) < (right.file, right.offset)
    }
}

/// The files of the event log: `<state directory>/events/00000001.jsonl` and so on. Each holds lines of JSON.
///
/// The lines tell what happened to links, collars and requests. Their size is bounded: when a file is full, the next one begins,
/// and only the newest two stay. No line is made durable, because a fix must never wait for one.
struct EventFiles {
    let path: String
    let fileSystem: any FileSystem

    /// Bytes in a file, after which the next one begins.
    static let byteLimit = 512 << 10
    /// The highest number of a file. The log never reaches it, and with it the next number is always valid.
    private static let numberLimit: UInt32 = 1 << 31
    static let fileCount = 2

    init(stateDirectory: String, _ fileSystem: any FileSystem) {
        path = "\(stateDirectory)/events"
        self.fileSystem = fileSystem
    }

    /// The numbers of the files, ascending; none if there is no directory.
    func numbers() throws(FileFailure) -> [UInt32] {
        try (FileFailure.unlessAbsent(try fileSystem.names(in: path)) ?? []).compactMap { name in
            guard name.hasSuffix(".jsonl"), let number = UInt32(name.dropLast(6), in: 1...EventFiles.numberLimit), self.name(of: number) == name
            else { return nil }
            return number
        }.sorted()
    }

    func path(of number: UInt32) -> String { "\(path)/\(name(of: number))" }

    private func name(of number: UInt32) -> String { "\(String(number, minimumDigits: 8)).jsonl" }
}

/// Appends lines to the event log of a state directory. The holder of the ``StateDirectoryLock`` is the only writer.
package final class EventLogWriter {
    private let files: EventFiles
    private var current: (number: UInt32, file: FileReference, byteCount: Int)?

    /// Prepares to write; nothing is made yet.
    package init(stateDirectory: String, fileSystem: (any FileSystem)? = nil) {
        files = EventFiles(stateDirectory: stateDirectory, fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory))
    }

    deinit { close() }

    /// Appends a line, which ends with a line feed.
    ///
    /// Complexity: one system call, and a few more for the first line and for the first line of a file.
    /// - Throws: a failure; the next call tries again, and this line is lost.
    package func append(_ line: [UInt8]) throws(FileFailure) {
        do throws(FileFailure) {
            if current == nil { try openNewest() }
            if let full = current, full.byteCount > 0, full.byteCount + line.count > EventFiles.byteLimit {
                close()
                try begin(full.number + 1)
            }
            guard let (number, file, byteCount) = current else { return }
            try files.fileSystem.writeAll(line, to: file, at: byteCount)
            current = (number, file, byteCount + line.count)
        } catch {
            // The next line overwrites the part that was written, or readers skip that part.
            close()
            throw error
        }
    }

    private func close() {
        if let current { files.fileSystem.close(current.file) }
        current = nil
    }

    private func openNewest() throws(FileFailure) {
        guard let newest = try files.numbers().last else { return try begin(1) }
        let file = try files.fileSystem.open(files.path(of: newest), .writing)
        try files.fileSystem.closingOnFailure(file) { () throws(FileFailure) in
            var byteCount = try files.fileSystem.byteCount(of: file)
            var last: [UInt8] = []
            if byteCount > 0 { try files.fileSystem.read(from: file, at: byteCount - 1, count: 1, into: &last) }
            if let byte = last.first, byte != UInt8(ascii: "\n") {
                // A process that was killed left a part of a line.
                byteCount += try files.fileSystem.write([UInt8(ascii: "\n")], from: 0, to: file, at: byteCount)
            }
            current = (newest, file, byteCount)
        }
    }

    /// Begins a file, and removes those that are no longer kept.
    private func begin(_ number: UInt32) throws(FileFailure) {
        let fileSystem = files.fileSystem
        _ = try JournalDirectory.makeShared(files.path, fileSystem: fileSystem)
        current = (number, try fileSystem.open(files.path(of: number), .creatingIfMissing), 0)
        _ = try fileSystem.share(files.path(of: number), as: .readableFile)
        for old in try files.numbers() where old + UInt32(EventFiles.fileCount) <= number {
            try fileSystem.remove(files.path(of: old))
        }
    }
}

/// Reads the event log of a state directory, also while another process appends to it.
package final class EventLogReader {
    /// A line, with its line feed, and the position after it.
    package struct Line: Equatable, Sendable {
        package let bytes: [UInt8]
        package let end: EventPosition
    }

    /// The position up to which lines were read.
    package private(set) var position: EventPosition
    /// Whether files after the position were removed before they were read.
    package private(set) var hasLostLines = false
    private let files: EventFiles
    private var chunk: [UInt8] = []
    private static let chunkByteCount = 1 << 16

    package init(stateDirectory: String, from position: EventPosition = .start, fileSystem: (any FileSystem)? = nil) {
        self.position = position
        files = EventFiles(stateDirectory: stateDirectory, fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory))
    }

    /// The next whole lines, of at most 64 KiB together, or one longer line; none if there are no more now. Lines in files that
    /// were removed meanwhile are passed over.
    package func next() throws(JournalError) -> [Line] {
        try JournalError.wrappingAll { () throws(FileFailure) in
            var numbers = try files.numbers()
            while let number = numbers.first(where: { $0 >= position.file }) {
                if number > position.file {
                    hasLostLines = hasLostLines || position > .start
                    position = EventPosition(file: number, offset: 0)
                }
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
            // The state directory was restored from a backup: its log begins again.
            if let last = numbers.last, last < position.file {
                position = EventPosition(file: last, offset: 0)
                return try lines(of: last)
            }
            return []
        }
    }

    private func lines(of number: UInt32) throws(FileFailure) -> [Line] {
        let lines = try lines(of: number, within: EventLogReader.chunkByteCount)
        // A line that is longer than a chunk fits the largest file.
        guard lines.isEmpty, chunk.count == EventLogReader.chunkByteCount else { return lines }
        return try self.lines(of: number, within: EventFiles.byteLimit)
    }

    private func lines(of number: UInt32, within byteCount: Int) throws(FileFailure) -> [Line] {
        chunk.removeAll()
        guard let file = try FileFailure.unlessAbsent(try files.fileSystem.open(files.path(of: number), .reading)) else { return [] }
        defer { files.fileSystem.close(file) }
        try files.fileSystem.read(from: file, at: Int(position.offset), count: byteCount, into: &chunk)
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
