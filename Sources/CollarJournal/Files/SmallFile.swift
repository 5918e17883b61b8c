/// A file that is read and replaced as a whole.
package enum SmallFile {
    /// The first bytes of the file, up to a limit; none if it is missing.
    package static func contents(
        of path: String, byteLimit: Int = 256, _ fileSystem: any FileSystem
    ) throws(JournalError) -> [UInt8] {
        try existingContents(of: path, byteLimit: byteLimit, fileSystem) ?? []
    }

    /// The first bytes of the file, up to a limit; nil if it is missing.
    static func existingContents(of path: String, byteLimit: Int, _ fileSystem: any FileSystem) throws(JournalError) -> [UInt8]? {
        try JournalError.wrappingAll { () throws(FileFailure) in
            guard let file = try FileFailure.unlessAbsent(try fileSystem.open(path, .reading)) else { return nil }
            defer { fileSystem.close(file) }
            var bytes: [UInt8] = []
            try fileSystem.read(from: file, at: 0, count: byteLimit, into: &bytes)
            return bytes
        }
    }

    /// Replaces the file durably. After a crash at any point the file has the old or the new content. The new content is durable
    /// before the rename, and the rename is durable when this function returns.
    /// - Parameter prepare: is given the new file while that is empty. Others may exchange its name, so that only the open file is certain.
    package static func replace(
        _ path: String, in directory: String, with bytes: [UInt8], _ fileSystem: any FileSystem,
        prepare: (FileReference) throws(FileFailure) -> Void = { _ in }
    ) throws(FileFailure) {
        let new = try create(for: path, fileSystem, prepare: prepare)
        try finish(new, as: path, in: directory, with: bytes, fileSystem)
    }

    /// Makes the empty file that is to replace the one at `path`.
    /// - Returns: its path, for ``finish(_:as:in:with:_:)`` or ``rename(_:to:with:_:)``.
    static func create(
        for path: String, _ fileSystem: any FileSystem, prepare: (FileReference) throws(FileFailure) -> Void = { _ in }
    ) throws(FileFailure) -> String {
        let newPath = "\(path).new"
        // A failed attempt may have left a file. After a power cut during a rename it may even be the current file under a
        // second name, which must not be written to.
        _ = try FileFailure.unlessAbsent(try fileSystem.remove(newPath))
        let new = try fileSystem.open(newPath, .creating)
        defer { fileSystem.close(new) }
        try prepare(new)
        return newPath
    }

    /// Writes the content to the new file and renames that file to `path`, durably.
    static func finish(
        _ newPath: String, as path: String, in directory: String, with bytes: [UInt8], _ fileSystem: any FileSystem
    ) throws(FileFailure) {
        try rename(newPath, to: path, with: bytes, fileSystem)
        try fileSystem.synchronizeDirectory(at: directory)
    }

    /// Writes the content to the new file, durably, and renames that file to `path`.
    static func rename(
        _ newPath: String, to path: String, with bytes: [UInt8], _ fileSystem: any FileSystem
    ) throws(FileFailure) {
        do {
            let file = try fileSystem.open(newPath, .writing)
            defer { fileSystem.close(file) }
            try fileSystem.writeAll(bytes, to: file, at: 0)
            try fileSystem.synchronize(file)
        }
        try fileSystem.rename(newPath, to: path)
    }
}

extension String {
    /// Bytes as lower-case hexadecimal digits, two for each byte.
    package init(hexadecimal bytes: Span<UInt8>) {
        self = bytes.indices.map { String(bytes[$0], radix: 16, minimumDigits: 2) }.joined()
    }
}

extension [UInt8] {
    /// The bytes of a text of hexadecimal digits, two for each byte; nil for any other text.
    package init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count % 2 == 0, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        let digits = text.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension String {
    /// An integer in lower-case digits, with leading zeros up to `minimumDigits` digits.
    @inlinable
    package init(_ value: some BinaryInteger, radix: Int = 10, minimumDigits: Int) {
        let digits = String(value.magnitude, radix: radix)
        self = (value < 0 ? "-" : "") + String(repeating: "0", count: Swift.max(0, minimumDigits - digits.utf8.count)) + digits
    }
}
