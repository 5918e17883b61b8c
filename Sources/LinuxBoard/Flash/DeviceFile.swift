import CollarFirmware
import CollarWire
import Glibc
import LinuxSystem

/// The file of a collar: what a factory gives to a device, then its flash. The first block is that of the emulated board.
///
/// Two blocks of 4,096 bytes precede the flash. The first has, most significant byte first: 0x434C4642, device id (8 bytes), address (1),
/// two fields of the emulated board (3), key (16), and the CRC-24 of these 32 bytes. A collar on a Linux machine keeps the id of the
/// machine's boot in the second, as text.
package struct DeviceFile {
    package enum Failure: Error, Equatable, Sendable {
        case system(path: String, operation: String, errorNumber: Int32)
        /// The file for the key exists.
        case exists(path: String)
        /// The first block does not describe a collar.
        case notACollar(path: String)
    }

    private static let mark: UInt32 = 0x434C_4642
    private static let contentByteCount = 32
    private static let bootOffset = 4096
    /// Where the flash begins.
    package static let flashStart = 8192
    /// Blocks of a new flash: 8 MiB, with room for 230,000 fixes.
    private static let newBlockCount = 2048

    package let path: String
    package let deviceID: DeviceID
    /// Address on the air, 1 … 254.
    package let address: UInt8
    /// The key with which the collar left the factory.
    package let key: CollarKey
    /// Whether the machine has started since the file was opened last.
    package let isPowerOn: Bool

    /// Makes a device with a random address and key, and writes the key to a file of its own first: a collar whose key nobody has is of no
    /// use. If it fails, it leaves neither file.
    /// - Parameter deviceID: its id; nil for a random one.
    /// - Returns: its id.
    package static func make(at path: String, deviceID: DeviceID? = nil, keyPath: String) throws(Failure) -> DeviceID {
        var random = SystemRandomNumberGenerator()
        let id = deviceID?.rawValue ?? UInt64.random(in: 0 ... .max, using: &random)
        let key = (0..<16).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        let text = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\n"
        try write(Array(text.utf8), to: keyPath)
        var bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: mark >> $0) }
        bytes += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: id >> $0) }
        bytes += [UInt8.random(in: 1...254, using: &random), 0, 0, 0] + key
        let sum = checksum(of: bytes)
        bytes += [16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
        bytes += [UInt8](repeating: 0, count: flashStart - bytes.count)
        bytes += [UInt8](repeating: 0xFF, count: newBlockCount * 4096)
        // A power cut leaves the whole file or none.
        let unfinished = path + ".new"
        unsafe unlink(unfinished)
        do throws(Failure) {
            try write(bytes, to: unfinished)
            guard unsafe rename(unfinished, path) == 0 else { throw .system(path: path, operation: "rename", errorNumber: errno) }
        } catch {
            unsafe unlink(unfinished)
            unsafe unlink(keyPath)
            throw error
        }
        let folder = unsafe open(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return DeviceID(rawValue: id)
    }

    /// Writes a new file durably.
    private static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw errno == EEXIST ? .exists(path: path) : .system(path: path, operation: "open", errorNumber: errno) }
        let isWritten = SystemFiles.write(bytes, to: descriptor) && fsync(descriptor) == 0
        let cause = errno
        close(descriptor)
        if !isWritten {
            unsafe unlink(path)
            throw .system(path: path, operation: "write", errorNumber: cause)
        }
    }

    /// Opens the file of a collar, and notes in it which boot of the machine this is.
    package init(path: String) throws(Failure) {
        self.path = path
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(path: path, operation: "open", errorNumber: errno) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: DeviceFile.flashStart)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        let sum = DeviceFile.checksum(of: Array(bytes[..<DeviceFile.contentByteCount]))
        guard count == bytes.count, DeviceFile.number(bytes[0..<4]) == UInt64(DeviceFile.mark),
            DeviceFile.number(bytes[DeviceFile.contentByteCount..<DeviceFile.contentByteCount + 3]) == UInt64(sum), (1...254).contains(bytes[12])
        else { throw .notACollar(path: path) }
        deviceID = DeviceID(rawValue: DeviceFile.number(bytes[4..<12]))
        address = bytes[12]
        key = CollarKey(bytes.span.extracting(16..<32))
        let boot = Array((SystemFiles.firstLine(of: "/proc/sys/kernel/random/boot_id") ?? "").utf8)
        isPowerOn = boot.isEmpty || Array(bytes[DeviceFile.bootOffset..<DeviceFile.bootOffset + boot.count]) != boot
        guard isPowerOn else { return }
        let written = unsafe boot.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(DeviceFile.bootOffset)) }
        guard written == boot.count, fdatasync(descriptor) == 0 else { throw .system(path: path, operation: "write", errorNumber: errno) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        var crc = CRC24()
        crc.update(bytes.span, from: 0, to: bytes.count)
        return crc.checksum
    }
}
