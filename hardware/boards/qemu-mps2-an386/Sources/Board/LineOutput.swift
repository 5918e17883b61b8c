/// Bytes that a port has not taken yet: of one frame, with its stuffing and delimiters.
public struct LineOutput: ~Copyable {
    private var bytes = InlineArray<256, UInt8>(repeating: 0)
    private var position = 0
    private var count = 0

    /// Nothing to send.
    public init() {}

    /// Whether the port has taken everything.
    public var isEmpty: Bool { position == count }

    /// Gets the bytes that `write` appends, at most 256.
    public mutating func fill(_ write: (inout OutputSpan<UInt8>) -> Void) {
        var count = 0
        bytes = InlineArray { (output: inout OutputSpan<UInt8>) in
            write(&output)
            count = output.count
            while output.freeCapacity > 0 { output.append(0) }
        }
        position = 0
        self.count = count
    }

    /// Writes bytes until the port takes no more.
    public mutating func write(to port: inout UART) {
        while position < count, port.isReady {
            port.write(bytes[position])
            position += 1
        }
    }
}
