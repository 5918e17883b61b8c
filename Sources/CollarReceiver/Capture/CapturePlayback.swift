import CollarJournal
import Glibc
import LinuxSystem
import RadioModems

/// Gives the records of a capture one after the other, with the time that each of them sets.
final class CapturePlayback {
    private let path: String
    private let descriptor: Int32
    private var reader = CaptureReader()
    private var waiting: CaptureRecord?
    private var isAtEnd = false
    /// The time of the playback: that of the last record.
    private(set) var now: HostTime
    /// The receiver id in the first record; nil if the capture begins otherwise.
    let receiverID: UInt32?

    /// Opens a capture and reads its first record, whose time is the time of the playback at first. "-" is stdin.
    init(path: String) throws(ReceiverError) {
        self.path = path == "-" ? "stdin" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .captureUnreadable(path: path, errorNumber: errno) }
        var reader = CaptureReader()
        let first = try CapturePlayback.nextRecord(of: &reader, descriptor, path: path)
        guard let first else { throw .capture(path: path, CaptureError(problem: .notACapture, offset: 0)) }
        self.reader = reader
        waiting = first
        now = first.time
        if case .began(let receiverID) = first.event { self.receiverID = receiverID } else { receiverID = nil }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Takes the next record: its time is the time of the playback from then on.
    /// - Parameter round: the round to which the record must belong; nil for any.
    /// - Returns: nil at the end of the capture or of the round.
    func takeRecord(of round: UInt16? = nil) throws(ReceiverError) -> CaptureRecord? {
        if waiting == nil, !isAtEnd {
            waiting = try CapturePlayback.nextRecord(of: &reader, descriptor, path: path)
            isAtEnd = waiting == nil
        }
        guard let record = waiting, round ?? record.round == record.round else { return nil }
        waiting = nil
        now = record.time
        return record
    }

    private static func nextRecord(
        of reader: inout CaptureReader, _ descriptor: Int32, path: String
    ) throws(ReceiverError) -> CaptureRecord? {
        while true {
            do throws(CaptureError) { if let record = try reader.next() { return record } } catch {
                throw .capture(path: path, error)
            }
            guard let bytes = SystemFiles.read(from: descriptor) else { throw .captureUnreadable(path: path, errorNumber: errno) }
            guard !bytes.isEmpty else {
                do throws(CaptureError) { try reader.finish() } catch {
                    // A power cut may leave a part of the last record. The records before it are sound.
                    guard error.problem == .cut else { throw .capture(path: path, error) }
                }
                return nil
            }
            reader.append(bytes)
        }
    }
}

/// The clocks of a receiver: those of the system, or the time of a playback.
struct ReceiverClock {
    /// The capture whose times count; nil for the clocks of the system.
    var playback: CapturePlayback?

    var now: HostTime { playback?.now ?? .now }
}

/// The line of a port in a capture. What is written to it is gone: the answers of the receiver that made the capture were sent then.
final class RecordedConnection: RadioConnection {
    let kind: RadioModem.PortKind
    let roundTripMicroseconds: Int64

    init(_ opening: PortOpening) {
        kind = opening.kind
        roundTripMicroseconds = opening.roundTripMicroseconds
    }

    var fileDescriptor: Int32 { -1 }

    func read(into buffer: inout [UInt8]) -> ReadResult { .wouldBlock }

    func write(_ bytes: Span<UInt8>) -> WriteResult { .written(bytes.count) }

    func close() {}
}
