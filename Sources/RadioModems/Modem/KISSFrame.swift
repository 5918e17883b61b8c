import CollarWire

/// A frame of the KISS protocol (M. Chepponis and P. Karn, "The KISS TNC", 1987): a type and data between delimiters.
struct KISSFrame: Equatable, Sendable {
    /// The delimiter before and after every frame.
    static let delimiter: UInt8 = 0xC0
    private static let escape: UInt8 = 0xDB
    private static let escapedDelimiter: UInt8 = 0xDC
    private static let escapedEscape: UInt8 = 0xDD

    var type: UInt8
    var data: [UInt8]

    init(_ type: UInt8, _ data: [UInt8] = []) {
        self.type = type
        self.data = data
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(KISSFrame.delimiter)
        for byte in [type] + data {
            switch byte {
            case KISSFrame.delimiter: bytes += [KISSFrame.escape, KISSFrame.escapedDelimiter]
            case KISSFrame.escape: bytes += [KISSFrame.escape, KISSFrame.escapedEscape]
            default: bytes.append(byte)
            }
        }
        bytes.append(KISSFrame.delimiter)
    }

    /// Bytes that end a frame which an earlier program may have left unfinished, without effect. More bytes than a stick's buffer
    /// holds, which is 512 in MeshCore's firmware, make it drop that frame; otherwise the next delimiter would transmit it. A
    /// frame that begins with 0xFF is ignored.
    static let abandonment = [UInt8](repeating: 0xFF, count: 600)

    /// Cuts received bytes into frames.
    struct Decoder: Sendable {
        /// The most bytes of a frame: a packet of 255 bytes, its type, and room to spare.
        private static let limit = 600

        private var frame: [UInt8] = []
        private var isInFrame = false
        private var isEscaped = false
        private var isDamaged = false

        /// Takes one byte.
        /// - Returns: the frame that the byte ends; nil if it ends none, or a frame that is empty, too long or escaped wrongly.
        mutating func take(_ byte: UInt8) -> KISSFrame? {
            if byte == KISSFrame.delimiter {
                defer {
                    frame.removeAll(keepingCapacity: true)
                    isInFrame = true
                    isEscaped = false
                    isDamaged = false
                }
                guard isInFrame, !isEscaped, !isDamaged, let type = frame.first else { return nil }
                return KISSFrame(type, Array(frame.dropFirst()))
            }
            guard isInFrame else { return nil }
            switch (isEscaped, byte) {
            case (false, KISSFrame.escape):
                isEscaped = true
                return nil
            case (false, _): append(byte)
            case (true, KISSFrame.escapedDelimiter): append(KISSFrame.delimiter)
            case (true, KISSFrame.escapedEscape): append(KISSFrame.escape)
            case (true, _): isDamaged = true
            }
            isEscaped = false
            return nil
        }

        private mutating func append(_ byte: UInt8) {
            guard frame.count < Decoder.limit else { return isDamaged = true }
            frame.append(byte)
        }
    }
}

extension [UInt8] {
    /// The unsigned number in the bytes from `index` on, most significant byte first; nil if there are too few.
    func bigEndian(at index: Int = 0, byteCount: Int = 4) -> UInt32? {
        guard count >= index + byteCount else { return nil }
        return self[index..<index + byteCount].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The unsigned number in the four bytes from `index` on, least significant byte first; nil if there are too few.
    func littleEndian(at index: Int = 0) -> UInt32? {
        guard count >= index + 4 else { return nil }
        return self[index..<index + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    static func littleEndian(_ value: UInt32) -> [UInt8] { bigEndian(value).reversed() }
}
