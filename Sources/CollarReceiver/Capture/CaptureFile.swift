import CollarJournal
import Glibc
import LinuxSystem

package enum CaptureFileError: Error, Equatable, Sendable {
    /// The system refuses; `operation` is the call.
    case system(path: String, operation: String, errorNumber: Int32)
    case notAFile(path: String)
    /// The file holds something other than a capture.
    case otherContent(path: String)
    /// Another program writes to the file.
    case inUse(path: String)
}

/// The file of a capture. Each record is written whole and at once, so that nothing is lost when this process ends in any way.
final class CaptureFile {
    let path: String
    private let descriptor: Int32
    private var encoder: CaptureEncoder
    private var byteCount: Int
    private var isStopped = false
    private var round: UInt16 = 0
    private let report: (CaptureFileError) -> Void

    /// Opens a file, makes it if it is missing, and writes the record of the beginning. A capture that is there already goes on
    /// with a further section; what a power cut left of its last record is removed.
    /// - Parameter report: called once, if the file cannot be written any more; nothing is written after that.
    init(
        _ path: String, receiverID: UInt32, at time: HostTime, report: @escaping (CaptureFileError) -> Void
    ) throws(CaptureFileError) {
        self.path = path
        self.report = report
        encoder = CaptureEncoder(at: time)
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw .system(path: path, operation: "open", errorNumber: errno) }
        byteCount = 0
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notAFile(path: path) }
        guard uninterrupted({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 else {
            throw errno == EWOULDBLOCK ? .inUse(path: path) : failure("flock")
        }
        byteCount = try endOfCapture()
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else { throw failure("ftruncate") }
        try write(encoder.start())
        try write(encoder.encode(CaptureRecord(time: time, port: CaptureFile.receiverName, event: .began(receiverID: receiverID))))
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The name in the place of a port in the records of the receiver as a whole.
    private static let receiverName = "collar-link"

    func note(_ event: CaptureEvent, port: String = receiverName, at time: HostTime) {
        guard !isStopped else { return }
        do throws(CaptureFileError) {
            try write(encoder.encode(CaptureRecord(time: time, round: round, port: port, event: event)))
        } catch {
            isStopped = true
            // A record that is not whole would make the rest unreadable.
            _ = ftruncate(descriptor, off_t(byteCount))
            report(error)
        }
    }

    /// Lines are about to be written: what is noted from now on belongs to another round.
    func beginRound() { round &+= 1 }

    private func failure(_ operation: String) -> CaptureFileError {
        .system(path: path, operation: operation, errorNumber: errno)
    }

    private func write(_ bytes: [UInt8]) throws(CaptureFileError) {
        var written = 0
        while written < bytes.count {
            let offset = off_t(byteCount + written)
            let count = uninterrupted {
                unsafe bytes[written...].withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset) }
            }
            guard count > 0 else { throw failure("write") }
            written += count
        }
        byteCount += written
    }

    /// The offset after the last whole block of what is in the file.
    private func endOfCapture() throws(CaptureFileError) -> Int {
        var reader = CaptureReader()
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var offset = 0
        while true {
            let count = uninterrupted {
                unsafe chunk.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            }
            guard count >= 0 else { throw failure("read") }
            if count == 0 { break }
            offset += count
            reader.append(Array(chunk[..<count]))
            do throws(CaptureError) { while try reader.next() != nil {} } catch { throw .otherContent(path: path) }
        }
        guard offset == 0 || reader.recordCount > 0 else { throw .otherContent(path: path) }
        return reader.endOfBlocks
    }
}
