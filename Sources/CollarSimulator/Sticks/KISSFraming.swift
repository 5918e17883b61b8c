/// The framing of KISS, as sticks speak it.
enum KISS {
    static let frameEnd: UInt8 = 0xC0
    /// The byte that announces a replaced byte.
    static let escape: UInt8 = 0xDB
    /// Follows an escape in place of ``frameEnd``.
    static let escapedFrameEnd: UInt8 = 0xDC
    /// Follows an escape in place of ``escape``.
    static let escapedEscape: UInt8 = 0xDD

    /// The bytes of a frame on the line.
    static func frame(_ type: UInt8, _ data: [UInt8]) -> [UInt8] {
        var bytes = [frameEnd]
        for byte in [type] + data {
            switch byte {
            case frameEnd: bytes += [escape, escapedFrameEnd]
            case escape: bytes += [escape, escapedEscape]
            default: bytes.append(byte)
            }
        }
        return bytes + [frameEnd]
    }
}

/// Finds frames in the bytes of a host as MeshCore's modem does: bytes before the first delimiter do not count, an escape
/// before any other byte takes that byte away, and a frame longer than the buffer is lost up to the next delimiter.
struct KISSReceiver: Sendable {
    private let capacity: Int
    private var buffer: [UInt8] = []
    private var isActive = false
    private var isEscaped = false

    /// - Parameter capacity: bytes of a frame that the firmware has room for, its type included.
    init(capacity: Int) { self.capacity = capacity }

    /// Takes a byte.
    /// - Returns: the type and data of the frame that the byte ends; nil if it ends none.
    mutating func take(_ byte: UInt8) -> [UInt8]? {
        if byte == KISS.frameEnd {
            let frame = isActive && !buffer.isEmpty ? buffer : nil
            buffer = []
            isEscaped = false
            isActive = true
            return frame
        }
        guard isActive else { return nil }
        if byte == KISS.escape {
            isEscaped = true
            return nil
        }
        var byte = byte
        if isEscaped {
            isEscaped = false
            switch byte {
            case KISS.escapedFrameEnd: byte = KISS.frameEnd
            case KISS.escapedEscape: byte = KISS.escape
            default: return nil
            }
        }
        if buffer.count < capacity {
            buffer.append(byte)
        } else {
            buffer = []
            isActive = false
        }
        return nil
    }
}

extension [UInt8] {
    static func littleEndian(_ value: UInt32) -> [UInt8] { bigEndian(value).reversed() }

    static func bigEndian(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

    static func bigEndian(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }
}

extension Sequence where Element == UInt8 {
    var bigEndianNumber: UInt32 { reduce(0) { $0 << 8 | UInt32($1) } }
}
