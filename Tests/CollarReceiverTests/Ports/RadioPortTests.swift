import CollarARQ
import CollarPorts
import LinuxSystem
import RadioModems
import Testing

@testable import CollarHost
@testable import CollarReceiver

/// The bytes that wait for the line of a port.
@Suite struct RadioPortTests {
    private typealias Line = PortsBench.Line

    private static let frame: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
    /// The frame on the serial line: a zero, a length byte, the frame, a zero.
    private static let encoded: [UInt8] = [0, 8, 1, 2, 3, 4, 5, 6, 7, 0]

    private func port(_ line: Line) -> RadioPort {
        let port = RadioPort(id: PortID(index: 0), link: LinkID(index: 0), path: "/dev/ttyUSB0")
        port.modem = RadioModem(ModemConfiguration(dialect: .serial, settings: nil, limits: nil), kind: .board, at: Instant(microseconds: 0))
        port.connection = line
        return port
    }

    @Test func bytesWaitUntilTheLineTakesThem() {
        let line = Line(.board, capacity: 4)
        let port = port(line)
        #expect(!port.queue(Self.frame))
        #expect(port.flush { _ in } == true)
        #expect(line.written == Array(Self.encoded.prefix(4)))
        line.capacity = .max
        var noted: [UInt8] = []
        #expect(port.flush { noted += $0 } == false)
        #expect(line.written == Self.encoded)
        #expect(noted == Array(Self.encoded.dropFirst(4)))
    }

    @Test func bytesOfALineThatClosedDoNotGoToTheNextOne() {
        let port = port(Line(.board, capacity: 4))
        _ = port.queue(Self.frame)
        #expect(port.flush { _ in } == true)
        port.connection = nil
        #expect(port.flush { _ in } == nil)
        let next = Line(.board, capacity: .max)
        port.connection = next
        #expect(port.flush { _ in } == false)
        #expect(next.written.isEmpty)
    }

    @Test func aFrameIsDroppedWhereTooManyBytesWait() {
        let line = Line(.board, capacity: 0)
        let port = port(line)
        var drops = 0
        for _ in 0..<1000 where port.queue(Self.frame) { drops += 1 }
        #expect(drops == 1, "that frames are dropped is told once")
        line.capacity = .max
        #expect(port.flush { _ in } == false)
        #expect(line.written.count >= 4096 && line.written.count < 4096 + Self.encoded.count)
        line.capacity = 0
        for _ in 0..<1000 where port.queue(Self.frame) { drops += 1 }
        #expect(drops == 2)
    }
}
