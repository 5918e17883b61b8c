import CheckedNumbers
import CollarWire

/// The directory of one collar's journal: `<state directory>/<device id>/`, with segments `00000001.journal` and so on.
package struct JournalDirectory: Equatable, Sendable {
    package let path: String
    package let stateDirectory: String

    /// Names the directory of a collar, whose id is written as 16 lower-case hexadecimal digits.
    package init(stateDirectory: String, deviceID: DeviceID) {
        self.stateDirectory = stateDirectory
        path = "\(stateDirectory)/\(deviceID)"
    }

    /// The collars that have a journal in a state directory, in the order of their ids; none if the directory is missing.
    package static func knownCollars(
        stateDirectory: String, fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) -> [DeviceID] {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        return collars(named: try JournalError.wrapping(try FileFailure.unlessAbsent(try fileSystem.names(in: stateDirectory))) ?? [])
    }

    /// The collars whose ids are among the names, in the order of their ids. Forms that this program does not write are refused.
    static func collars(named names: [String]) -> [DeviceID] {
        names.compactMap { name in DeviceID(hexadecimal: name).flatMap { $0.description == name ? $0 : nil } }.sorted()
    }

    /// Makes a directory and its missing parent directories, durably. Each is readable by its owner alone.
    static func make(_ path: String, fileSystem: any FileSystem) throws(FileFailure) {
        let isNew: Bool
        do throws(FileFailure) {
            isNew = try fileSystem.makeDirectory(at: path)
        } catch {
            guard error.isAbsence, let parent = parent(of: path) else { throw error }
            try make(parent, fileSystem: fileSystem)
            isNew = try fileSystem.makeDirectory(at: path)
        }
        do throws(FileFailure) {
            // An existing directory may come from a process that ended before it made the name durable.
            try fileSystem.synchronizeDirectory(at: parent(of: path) ?? ".")
        } catch {
            // If this user has no permission to read the parent directory, another user made this directory.
            guard error.isDenial, !isNew else { throw error }
        }
    }

    /// Makes a directory as ``make(_:fileSystem:)`` does, and lets the group `collar-link` read it where it is that group's.
    /// - Returns: whether the group could not read it before.
    static func makeShared(_ path: String, fileSystem: any FileSystem) throws(FileFailure) -> Bool {
        // A reader of the group is woken by the new name: it should find the permissions a moment later, not after the disk.
        var isShared = false
        do throws(FileFailure) {
            _ = try fileSystem.makeDirectory(at: path)
            isShared = try fileSystem.share(path, as: .readableDirectory)
        } catch {
            guard error.isAbsence else { throw error }
        }
        try make(path, fileSystem: fileSystem)
        let isSharedNow = try fileSystem.share(path, as: .readableDirectory)
        return isShared || isSharedNow
    }

    /// Makes the names of the directories above a directory durable: a process may have ended after it made some of these
    /// directories and before it made their names durable.
    static func synchronizeAncestors(of path: String, fileSystem: any FileSystem) throws(FileFailure) {
        var directory = path
        while let parent = parent(of: directory), parent != directory {
            directory = parent
            do throws(FileFailure) { try fileSystem.synchronizeDirectory(at: directory) } catch {
                guard error.isDenial else { throw error }
            }
        }
    }

    /// The numbers of the segments, ascending.
    func segments(_ fileSystem: any FileSystem) throws(FileFailure) -> [UInt32] {
        try fileSystem.names(in: path).compactMap(JournalDirectory.segment(named:)).sorted()
    }

    func path(ofSegment segment: UInt32) -> String { "\(path)/\(String(segment, minimumDigits: 8)).journal" }

    private static func segment(named name: String) -> UInt32? {
        guard name.hasSuffix(".journal"), name.utf8.count >= 16 else { return nil }
        // A journal never reaches higher numbers. With this limit the next number is always valid.
        return UInt32(name.dropLast(8), in: 1...(1 << 31) - 1)
    }

    private static func parent(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

extension DeviceID: CustomStringConvertible {
    /// 16 lower-case hexadecimal digits.
    public var description: String { String(rawValue, radix: 16, minimumDigits: 16) }

    /// Reads up to 16 hexadecimal digits; nil for any other text.
    package init?(hexadecimal text: some StringProtocol) {
        guard let value = UInt64(hexadecimal: text) else { return nil }
        self.init(rawValue: value)
    }
}

extension LogID: CustomStringConvertible {
    /// A decimal number.
    public var description: String { "\(rawValue)" }
}
