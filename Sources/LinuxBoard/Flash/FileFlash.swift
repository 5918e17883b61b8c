import CollarFirmware
import Glibc
import LinuxSystem

/// A NOR flash in a part of a file: programming only clears bits, erasing sets every bit of a block.
///
/// When a call of a durable flash returns, its change is on the disk. A power cut during the call leaves each sector of the change with its
/// old or its new content, and all other sectors unchanged. A NOR flash can be in the same state after a power cut.
package final class FileFlash: FlashDevice {
    package let blockByteCount: Int
    package let blockCount: Int
    private let descriptor: Int32
    /// Where the flash begins in the file.
    private let start: Int
    private let isDurable: Bool
    /// A change that could not be brought to the disk. The kernel may have it in memory alone, so it is written once more before anything
    /// else is changed.
    private var unsaved: (offset: Int, bytes: [UInt8])?

    package struct OpenError: Error, Equatable, Sendable {
        package let path: String
        /// The error number of the operating system; 0 if the file has a wrong size.
        package let errorNumber: Int32
        /// Why the file could not be used, in words for a person.
        package let reason: String
    }

    /// Opens the flash of a simulated collar, which a power cut of the machine can damage; a missing file is created as an erased flash.
    package init(path: String, blockByteCount: Int = 4096, blockCount: Int) throws(OpenError) {
        (self.blockByteCount, self.blockCount, start, isDurable) = (blockByteCount, blockCount, 0, false)
        descriptor = try FileFlash.open(path, creates: true)
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
    }

    /// Opens the durable flash of a device, which begins at an offset of its file and goes to the end.
    package init(path: String, start: Int) throws(OpenError) {
        (blockByteCount, self.start, isDurable) = (4096, start, true)
        descriptor = try FileFlash.open(path, creates: false)
        let size = Int(lseek(descriptor, 0, SEEK_END))
        blockCount = max(0, size - start) / blockByteCount
        guard blockCount >= 6, size == start + blockCount * blockByteCount else {
            throw OpenError(path: path, errorNumber: 0, reason: "it is no flash of a collar: \(size) bytes")
        }
        // After a failure of an earlier run, the kernel may have some of what can be read in memory alone.
        for block in 0..<blockCount {
            guard let bytes = bytes(at: block * blockByteCount, count: blockByteCount), put(bytes, at: block * blockByteCount) else {
                throw OpenError(path: path, errorNumber: errno, reason: SystemError.text(errno))
            }
        }
        guard fdatasync(descriptor) == 0 else { throw OpenError(path: path, errorNumber: errno, reason: SystemError.text(errno)) }
    }

    private static func open(_ path: String, creates: Bool) throws(OpenError) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC | (creates ? O_CREAT : 0), 0o600)
        guard descriptor >= 0 else { throw OpenError(path: path, errorNumber: errno, reason: SystemError.text(errno)) }
        // Two collars on one flash would overwrite each other's log.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw OpenError(path: path, errorNumber: EBUSY, reason: "another collar uses it")
        }
        return descriptor
    }

    deinit { close(descriptor) }

    package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(FlashError) {
        guard let bytes = bytes(at: offset, count: output.freeCapacity) else { throw .read(offset: offset) }
        for byte in bytes { output.append(byte) }
    }

    package func program(_ bytes: Span<UInt8>, at offset: Int) throws(FlashError) {
        guard save(), var merged = self.bytes(at: offset, count: bytes.count) else { throw .program(offset: offset) }
        for index in bytes.indices { merged[index] &= bytes[index] }
        guard write(merged, at: offset) else { throw .program(offset: offset) }
    }

    package func erase(block: Int) throws(FlashError) {
        guard block >= 0, block < blockCount, save(),
            write([UInt8](repeating: 0xFF, count: blockByteCount), at: block * blockByteCount)
        else { throw .erase(block: block) }
    }

    private func bytes(at offset: Int, count: Int) -> [UInt8]? {
        guard offset >= 0, offset + count <= blockByteCount * blockCount else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, count, off_t(start + offset)) }
        return got == count ? bytes : nil
    }

    private func write(_ bytes: [UInt8], at offset: Int) -> Bool {
        guard offset >= 0, offset + bytes.count <= blockByteCount * blockCount else { return false }
        let isSaved = put(bytes, at: offset) && (!isDurable || fdatasync(descriptor) == 0)
        if isDurable { unsaved = isSaved ? nil : (offset, bytes) }
        return isSaved
    }

    private func put(_ bytes: [UInt8], at offset: Int) -> Bool {
        unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(start + offset)) } == bytes.count
    }

    /// Writes once more what could not be brought to the disk.
    private func save() -> Bool { unsaved.map { write($0.bytes, at: $0.offset) } ?? true }
}
