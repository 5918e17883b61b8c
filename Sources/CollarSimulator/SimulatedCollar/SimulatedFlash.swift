import CollarFirmware
import Glibc

/// A NOR flash in memory: programming only clears bits, erasing sets every bit of a block.
///
/// A flash in memory that also simulates power cuts or failures wraps a `MemoryFlash`.
package struct MemoryFlash: FlashDevice, Sendable {
    package let blockByteCount: Int
    package let blockCount: Int
    package private(set) var contents: [UInt8]

    package init(blockByteCount: Int = 4096, blockCount: Int) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
        contents = [UInt8](repeating: 0xFF, count: blockByteCount * blockCount)
    }

    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard holds(output.freeCapacity, at: offset) else { throw .read(offset: offset) }
        for index in offset..<(offset + output.freeCapacity) { output.append(contents[index]) }
    }

    package mutating func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard holds(bytes.count, at: offset) else { throw .program(offset: offset) }
        for index in bytes.indices { contents[offset + index] &= bytes[index] }
    }

    package mutating func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount else { throw .erase(block: block) }
        change(bytes(ofBlock: block)) { _ in 0xFF }
    }

    /// Whether the flash has `count` bytes at `offset`.
    package func holds(_ count: Int, at offset: Int) -> Bool { offset >= 0 && offset + count <= contents.count }

    package func bytes(ofBlock block: Int) -> Range<Int> { (block * blockByteCount)..<((block + 1) * blockByteCount) }

    /// Changes bytes in a way that no complete flash operation does, to simulate decay or an interrupted erase.
    package mutating func change(_ range: Range<Int>, _ change: (UInt8) -> UInt8) {
        for index in range { contents[index] = change(contents[index]) }
    }
}

/// A NOR flash in a file, so that a simulated collar keeps its log across a restart of the process.
///
/// Killing the process and starting it again simulates a reboot: the file keeps its contents. The file is not synced, so
/// a power cut of the machine can damage the contents.
package final class FileFlash: FlashDevice {
    package let blockByteCount: Int
    package let blockCount: Int
    private let descriptor: Int32

    package struct OpenError: Error, Equatable, Sendable {
        package let path: String
        /// The error number of the operating system; 0 if the file has a wrong size.
        package let errorNumber: Int32
        /// Why the file could not be used, in words for a person.
        package let reason: String
    }

    /// Opens a flash file; a missing file is created as an erased flash.
    package init(path: String, blockByteCount: Int = 4096, blockCount: Int) throws(OpenError) {
        self.blockByteCount = blockByteCount
        self.blockCount = blockCount
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw OpenError(path: path, errorNumber: errno, reason: unsafe String(cString: strerror(errno)))
        }
        let size = lseek(descriptor, 0, SEEK_END)
        if size == 0 {
            for block in 0..<blockCount {
                do throws(FlashError) { try erase(block: block) } catch {
                    throw OpenError(path: path, errorNumber: errno, reason: "it cannot be filled")
                }
            }
        } else if size != off_t(blockByteCount * blockCount) {
            throw OpenError(
                path: path, errorNumber: 0,
                reason: "it is no flash of this collar: \(size) bytes instead of \(blockByteCount * blockCount)")
        }
        // Two simulators on one flash would overwrite each other's log.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw OpenError(path: path, errorNumber: EBUSY, reason: "another simulated collar uses it")
        }
    }

    deinit { close(descriptor) }

    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard let bytes = bytes(at: offset, count: output.freeCapacity) else { throw .read(offset: offset) }
        for byte in bytes { output.append(byte) }
    }

    package func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard var merged = self.bytes(at: offset, count: bytes.count) else { throw .program(offset: offset) }
        for index in bytes.indices { merged[index] &= bytes[index] }
        guard write(merged, at: offset) else { throw .program(offset: offset) }
    }

    package func erase(block: Int) throws(FlashError) {
        let erased = [UInt8](repeating: 0xFF, count: blockByteCount)
        guard block >= 0, block < blockCount, write(erased, at: block * blockByteCount) else { throw .erase(block: block) }
    }

    private func bytes(at offset: Int, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, off_t(offset)) }
        return got == count ? bytes : nil
    }

    private func write(_ bytes: [UInt8], at offset: Int) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) } == bytes.count
    }
}
