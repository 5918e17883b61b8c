import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import Glibc
import LinuxSystem
import Testing

@testable import CollarReceiver

/// A radio at another machine: the test is that machine, and sends when the receiver has connected.
@Suite struct ReceiverNetworkTests {
    private func listen() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        try #require(isBound && Glibc.listen(descriptor, 4) == 0)
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Fixes come in over the connection, each is answered, and the end of the connection ends the run of a receiver that does not wait.
    @Test func fixesComeInOverAConnection() throws {
        let (listener, port) = try listen()
        defer { close(listener) }
        let name = "tcp://127.0.0.1:\(port)"
        let bench = try ReceiverBench([.fix, .link])
        bench.configuration.playbackPath = nil
        bench.configuration.ports = [name]
        bench.configuration.reconnects = false
        bench.configuration.reportsTraffic = true
        bench.configuration.capturePath = "\(bench.folder)/recorded"
        // Only for a receiver that does not end as it should.
        bench.configuration.durationMicroseconds = 20_000_000
        let collar = RecordedCollar()
        let frames = [try collar.identity(next: 3), try collar.fix(0), try collar.fix(1), try collar.fix(2, poll: 3)]
        var connection: Int32 = -1
        var isClosed = false
        var (inbound, outbound) = (0, 0)
        bench.onNotice = { receiver, notice in
            switch notice {
            case .port(_, .opened):
                connection = accept(listener, nil, nil)
                try #require(connection >= 0)
                try #require(SystemFiles.write(RecordedDay.serialBytes(of: frames), to: connection))
            case .traffic(_, isInbound: true, let bytes): inbound += bytes.count
            case .traffic(_, isInbound: false, let bytes):
                outbound += bytes.count
                if receiver.statistics.host.fixes == 3, !isClosed {
                    isClosed = true
                    try #require(shutdown(connection, Int32(SHUT_WR)) == 0)
                }
            default: break
            }
        }
        try bench.write([], to: "output")
        let descriptor = unsafe open("\(bench.folder)/output", O_WRONLY | O_APPEND | O_CLOEXEC)
        try #require(descriptor >= 0)
        var run = try bench.run(writingTo: descriptor)
        close(descriptor)
        defer { close(connection) }
        run.text = String(decoding: try bench.read("output"), as: UTF8.self)
        #expect(try run.sequences() == [0, 1, 2])
        #expect(run.error != nil, "the connection is gone, and nobody waits for another one")
        #expect(inbound > 0 && outbound > 0 && isClosed)
        #expect(try run.lines(.link).compactMap { $0["port"]?.text }.allSatisfy { $0 == name })
        // The other end has every byte that is told to have gone out.
        #expect(SystemFiles.read(from: connection)?.count == outbound)
        // What was recorded is what happened.
        let again = try ReceiverBench()
        #expect(try again.play(bytes: try bench.read("recorded")).sequences() == [0, 1, 2])
    }
}
