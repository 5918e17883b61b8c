/// The identity of this receiver: 16 random bytes in `<state directory>/receiver`, bound to their machine, board, disk and
/// file (see ``ReceiverBinding``). So a copy of the directory is another receiver and does not acknowledge in the name of the
/// original.
package struct ReceiverIdentity: Equatable, Sendable {
    /// The receiver's id on the air; never 0.
    package let receiverID: UInt32

    /// Computes the id: FNV-1a, 64 bits, over the random bytes and then the binding (machine, birth time as decimal digits,
    /// disk and board, with a zero byte between each two). The upper half is xored into the lower half; if that gives 0 the
    /// id is 1.
    package init(randomBytes: [UInt8], binding: ReceiverBinding) {
        self.init(hashing: randomBytes + binding.bytes)
    }

    init(hashing bytes: [UInt8]) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        let folded = UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
        receiverID = folded == 0 ? 1 : folded
    }

    /// Reads the identity, or makes a new one if there is none. The caller must keep other processes out, see
    /// ``StateDirectoryLock``.
    /// - Parameters:
    ///   - stateDirectory: path of the state directory, which is made if it is missing.
    ///   - places: the paths that describe machine, board and disks; each may be missing.
    ///   - fileSystem: access to the state directory and the places.
    ///   - random: source of the random bytes of a new identity.
    /// - Throws: ``JournalError/retired(receiverID:path:)`` if the receiver has moved away.
    package static func load(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), fileSystem: any FileSystem,
        random: inout some RandomNumberGenerator
    ) throws(JournalError) -> ReceiverIdentity {
        try JournalError.wrapping { () throws(FileFailure) in
            try JournalDirectory.make(stateDirectory, fileSystem: fileSystem)
        }
        if let known = try existing(stateDirectory: stateDirectory, places: places, fileSystem: fileSystem) {
            // The process that made the file may have ended before the file's name was durable.
            try JournalError.wrapping { () throws(FileFailure) in
                try fileSystem.synchronizeDirectory(at: stateDirectory)
            }
            return known
        }
        let path = ReceiverFile.path(in: stateDirectory)
        let file = ReceiverFile.new(random: &random)
        // The new identity is not used before it is durable.
        try JournalError.wrapping { () throws(FileFailure) in
            try SmallFile.replace(path, in: stateDirectory, with: file.text, fileSystem)
        }
        return try ReceiverIdentity(file, path: path, places, fileSystem)
    }

    /// Reads the identity; nil if there is none.
    package static func existing(
        stateDirectory: String, places: ReceiverBinding.Places = .init(), fileSystem: (any FileSystem)? = nil
    ) throws(JournalError) -> ReceiverIdentity? {
        let fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: stateDirectory)
        guard let file = try ReceiverFile.load(stateDirectory, fileSystem) else { return nil }
        return try ReceiverIdentity(file, path: ReceiverFile.path(in: stateDirectory), places, fileSystem)
    }

    private init(
        _ file: ReceiverFile, path: String, _ places: ReceiverBinding.Places, _ fileSystem: any FileSystem
    ) throws(JournalError) {
        switch file {
        case .retired(let receiverID): throw .retired(receiverID: receiverID, path: path)
        case .identity(let bytes, let difference):
            let here = ReceiverIdentity(randomBytes: bytes, binding: try ReceiverBinding(of: path, places, fileSystem))
            receiverID = Self.moved(here.receiverID, by: difference)
        }
    }

    /// The id that differs from `receiverID` in the bits of `difference`; 1 if that gives 0.
    static func moved(_ receiverID: UInt32, by difference: UInt32) -> UInt32 {
        let moved = receiverID ^ difference
        return moved == 0 ? 1 : moved
    }
}
