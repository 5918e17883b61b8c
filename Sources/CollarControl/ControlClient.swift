import CollarARQ
import CollarFormats
import CollarWire

/// A program that is connected to the control socket.
package struct ControlClientID: Hashable, Sendable {
    /// The place that the program has, below ``ControlMachine/clientLimit``.
    let place: Int
}

/// The state of a connected program.
struct ControlClient {
    /// A request whose result the program waits for.
    struct Awaited: Hashable {
        var deviceID: DeviceID
        var requestID: UInt16

        /// The request of a result; nil if the result is of none.
        init?(_ result: ResultLine) {
            guard let deviceID = result.deviceID, let requestID = result.requestID else { return nil }
            (self.deviceID, self.requestID) = (deviceID, requestID)
        }
    }

    /// The maximum number of requests whose results one client can wait for.
    static let awaitedLimit = 16
    /// No lines are taken from a client while this many bytes or more wait to be sent to it.
    static let outboxLimit = 16_384

    /// Bytes that were received and not handled yet.
    var inbox: [UInt8] = []
    var outbox: [UInt8] = []
    var awaited: Set<Awaited> = []
    /// Whether a result was put into the outbox, and nothing was sent since.
    var hasNewResult = false
    /// When the client last sent something.
    var lastHeard: Instant
    var isReadClosed = false
    /// Whether the connection is closed as soon as the outbox is sent.
    var isEnding = false

    init(lastHeard: Instant) { self.lastHeard = lastHeard }

    /// Whether a complete line waits and may be handled.
    var hasLine: Bool { !isEnding && outbox.count < ControlClient.outboxLimit && inbox.contains(UInt8(ascii: "\n")) }

    /// Removes and returns the next line, without its line feed; nil if no line may be handled.
    mutating func takeLine() -> [UInt8]? {
        guard hasLine, let end = inbox.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = Array(inbox[..<end])
        inbox.removeFirst(end + 1)
        return line
    }

    var isLineTooLong: Bool { inbox.count >= ControlRequest.byteLimit && !inbox.contains(UInt8(ascii: "\n")) }

    /// How many more bytes may be read from the client.
    var room: Int { isReadClosed || isEnding || outbox.count >= ControlClient.outboxLimit ? 0 : ControlRequest.byteLimit - inbox.count }

    /// Whether nothing more will be sent to the client.
    var isOver: Bool { outbox.isEmpty && (isEnding || (isReadClosed && awaited.isEmpty && !hasLine)) }
}
