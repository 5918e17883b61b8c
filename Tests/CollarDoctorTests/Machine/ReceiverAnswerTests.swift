import CollarControl
import CollarFormats
import Dispatch
import FoundationEssentials
import Glibc
import Testing

@testable import CollarDoctor

/// The answer of a running receiver, as a recorded fact.
@Suite final class ReceiverAnswerTests {
    // The path of a socket has at most 107 bytes.
    private let folder = "/tmp/collar-\(UUID().uuidString)"
    private var listener: Int32 = -1

    init() throws { try #require(unsafe mkdir(folder, 0o700) == 0) }

    deinit {
        if listener >= 0 { close(listener) }
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    /// A receiver listens for the state directory.
    private func listen() throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array("\(folder)/control.sock".utf8)) }
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && Glibc.listen(listener, 1) == 0)
    }

    /// The fact, where the receiver answers the next connection with a line. Only a failing test waits until the end.
    private func fact(answering line: [UInt8]) -> String? {
        let socket = listener
        DispatchQueue.global().async {
            let connection = accept(socket, nil, nil)
            _ = unsafe line.withUnsafeBytes { unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            var byte: UInt8 = 0
            // The other end closes the connection when it has read the answer.
            while unsafe recv(connection, &byte, 1, 0) > 0 {}
            close(connection)
        }
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return ReceiverAnswer.text(
            stateDirectory: folder, runtimeDirectory: nil, untilMicroseconds: Int64(time.tv_sec + 10) * 1_000_000)
    }

    private func fact() -> String? { ReceiverAnswer.text(stateDirectory: folder, runtimeDirectory: nil, untilMicroseconds: 0) }

    @Test func aReceiverThatRefusesToAnswerIsNotSilent() throws {
        try listen()
        #expect(fact(answering: ResultLine(rejectedAt: 1, code: "not_permitted", reason: "Not you.").bytes) == "denied")
    }

    @Test func figuresAreALineWithoutItsLineFeed() throws {
        try listen()
        var figures = ReceiverFigures()
        figures.values[.fixes] = 5
        figures.radios = [RadioFigures(port: "/dev/a", state: .open, dialect: "kiss")]
        let answer = try #require(fact(answering: figures.line(unixMilliseconds: 3)))
        #expect(ReceiverFigures(line: answer.utf8) == figures)
        #expect(!answer.contains("\n"))
    }

    @Test func aReceiverThatGivesNoAnswerOrAnotherIsSilent() throws {
        try listen()
        #expect(fact(answering: Array("nonsense\n".utf8)) == ReceiverAnswer.silent)
        #expect(fact() == ReceiverAnswer.silent)
    }

    @Test func withoutAReceiverThereIsNoAnswer() throws {
        #expect(fact() == nil)
        try listen()
        close(listener)
        listener = -1
        #expect(fact() == nil, "a receiver that was killed has left its socket")
    }
}
