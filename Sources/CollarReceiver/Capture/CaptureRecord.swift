import CheckedNumbers
import CollarHost
import CollarJournal
import RadioModems

/// Something that happened at a port of a receiver, as a capture holds it: see `Protocol/CAPTURE.md`.
package struct CaptureRecord: Equatable, Sendable {
    /// When it happened. Only differences between the instants of one capture have a meaning.
    package var time: HostTime
    /// Records in a row with the same number were handled together, before lines were written.
    package var round: UInt16 = 0
    /// The path of the port, or `tcp://HOST:PORT`.
    package var port: String
    /// What happened.
    package var event: CaptureEvent
}

/// What happened at a port.
package enum CaptureEvent: Equatable, Sendable {
    /// A receiver with this id began. It has no port open.
    case began(receiverID: UInt32)
    /// The port was opened, or its modem was set up anew.
    case opened(PortOpening)
    /// The receiver read these bytes.
    case read([UInt8])
    /// The port took these bytes of the receiver.
    case wrote([UInt8])
    /// The receiver closed the port.
    case closed
    /// The radio went away while the port was open.
    case unplugged
    /// udev reports a radio; the text describes it.
    case plugged(device: String)
    /// udev reports that a device is gone.
    case removed
    /// The receiver ended.
    case ended
    /// The stick at the port speaks this dialect.
    case found(Dialect)
    /// The receiver did what was due.
    case due
}

extension CaptureEvent {
    /// The event's number in a record. The numbers never change.
    enum Code: UInt8 {
        case began = 0, opened, read, wrote, closed, unplugged, plugged, removed, ended, found, due
    }

    /// The event's number.
    var code: Code {
        switch self {
        case .began: .began
        case .opened: .opened
        case .read: .read
        case .wrote: .wrote
        case .closed: .closed
        case .unplugged: .unplugged
        case .plugged: .plugged
        case .removed: .removed
        case .ended: .ended
        case .found: .found
        case .due: .due
        }
    }

    /// The bytes after the fixed part of a record.
    var content: [UInt8] {
        switch self {
        case .read(let bytes), .wrote(let bytes): bytes
        case .began(let receiverID): Array("receiver=\(receiverID)\n".utf8)
        case .opened(let opening): Array(opening.text.utf8)
        case .plugged(let device): Array(device.utf8)
        case .found(let dialect): Array("dialect=\(dialect.rawValue)\n".utf8)
        case .closed, .unplugged, .removed, .ended, .due: []
        }
    }

    /// The event with a number and the bytes after the fixed part of its record.
    /// - Throws: ``CaptureFields/Fault`` if the bytes are not those of such an event.
    init(_ code: Code, content: [UInt8]) throws(CaptureFields.Fault) {
        switch code {
        case .read: self = .read(content)
        case .wrote: self = .wrote(content)
        case .began:
            let fields = CaptureFields(content)
            guard let receiverID = try fields.number("receiver", in: 0...UInt32.max) else { throw CaptureFields.Fault() }
            self = .began(receiverID: receiverID)
        case .opened:
            self = .opened(try PortOpening(CaptureFields(content)))
        case .plugged: self = .plugged(device: String(decoding: content, as: UTF8.self))
        case .closed: self = .closed
        case .unplugged: self = .unplugged
        case .removed: self = .removed
        case .ended: self = .ended
        case .due: self = .due
        case .found:
            guard let dialect = CaptureFields(content).text("dialect").flatMap(Dialect.init) else { throw CaptureFields.Fault() }
            self = .found(dialect)
        }
    }
}

/// The lines `key=value` of a record.
struct CaptureFields {
    /// A value is missing, or has no meaning.
    struct Fault: Error {}

    private var values: [Substring: Substring] = [:]

    init(_ content: [UInt8]) {
        for line in String(decoding: content, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[parts[0]] = parts[1] }
        }
    }

    /// The value of a key; nil if the key is absent.
    func text(_ key: String) -> String? { values[key[...]].map(String.init) }

    /// The value of a key as a number; nil if the key is absent.
    func number<Value: FixedWidthInteger>(_ key: String, in range: ClosedRange<Value>) throws(Fault) -> Value? {
        guard let text = text(key) else { return nil }
        guard let value = Value(text, in: range) else { throw Fault() }
        return value
    }
}
