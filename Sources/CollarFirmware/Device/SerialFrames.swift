import CollarWire

/// A serial line of a board, byte by byte.
public protocol SerialPort: ~Copyable {
    /// The next byte that has come in; nil if there is none.
    mutating func read() -> UInt8?
    /// Sends a byte. It may wait until the hardware has room for it.
    mutating func write(_ byte: UInt8)
}

/// Bare frames on a serial line, as section 4 of PROTOCOL.md describes them: for the cable, and for a radio that is one.
public struct SerialFrames: Sendable {
    private var decoder = StreamDecoder()

    /// Creates the state of a line from which nothing was read yet.
    public init() {}

    /// Appends the next frame from `port` to the empty `frame`, which has room for the largest one. Bytes that are no frame
    /// are dropped.
    /// - Returns: false if no byte is left before a frame is complete.
    public mutating func next<Port: SerialPort & ~Copyable>(
        from port: inout Port, into frame: inout OutputSpan<UInt8>
    ) -> Bool {
        while let byte = port.read() {
            let bytes: InlineArray<1, UInt8> = [byte]
            var index = 0
            guard decoder.next(in: bytes.span, at: &index) == .frame else { continue }
            let found = decoder.frame
            for index in found.indices { frame.append(found[index]) }
            return true
        }
        return false
    }

    /// Sends a bare frame of 1 … 253 bytes.
    public static func send<Port: SerialPort & ~Copyable>(_ frame: Span<UInt8>, on port: inout Port) {
        let bytes = InlineArray<256, UInt8> { (output: inout OutputSpan<UInt8>) in
            StreamEncoder.encode(frame, into: &output)
            while output.freeCapacity > 0 { output.append(StreamEncoder.delimiter) }
        }
        for index in 0..<StreamEncoder.encodedByteCount(for: frame.count) { port.write(bytes[index]) }
    }
}
