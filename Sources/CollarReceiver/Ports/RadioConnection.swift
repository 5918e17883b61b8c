import LinuxSystem
import RadioModems
import SerialDevices

/// An open line to a radio. No call blocks.
protocol RadioConnection: AnyObject {
    /// The descriptor of the line, for epoll.
    var fileDescriptor: Int32 { get }
    /// The kind of line, on which the times of a stick's answers depend.
    var kind: RadioModem.PortKind { get }
    /// The time that bytes take to the radio's machine and back, in microseconds; 0 for a radio at this machine, or if it is not
    /// known.
    var roundTripMicroseconds: Int64 { get }
    /// Reads the waiting bytes into the start of the array, which must not be empty and keeps its length.
    func read(into buffer: inout [UInt8]) -> ReadResult
    /// Writes as many bytes as the line takes now.
    func write(_ bytes: Span<UInt8>) -> WriteResult
    /// Closes the line. A second call does nothing.
    func close()
}

extension SerialPort: RadioConnection {
    var kind: RadioModem.PortKind { isPseudoTerminal ? .remote : .board }
    var roundTripMicroseconds: Int64 { 0 }
}

extension NetworkConnection: RadioConnection {
    var kind: RadioModem.PortKind { .network }
}
