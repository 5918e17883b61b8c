import CollarARQ
import CollarSimulator
import CollarWire
import RadioModems

/// A port with a stick of other firmware in it: the stick, the line, and the modem of the process that has the port open.
final class StickPort {
    let settings: RadioSettings
    var stick: any BaseStick
    /// The modem; nil while no process has the port open.
    var modem: RadioModem?
    /// The frame that the stick sends now.
    var onAir: [UInt8]?
    /// Whether ``World/exchange(with:)`` is at work.
    var isExchanging = false
    /// When the stick or the modem did something last.
    var lastStep: Int64 = -1
    /// Bytes of the stick that the process has not read.
    private var input: [UInt8] = []
    /// Bytes of the process that the stick has not taken.
    private var output: [UInt8] = []
    /// How many packets with these bytes the host has handed out and the stick has not sent.
    private var unsent: [[UInt8]: Int] = [:]
    private let dialect: Dialect
    /// Whether a modem has to find out the dialect that an earlier one has seen. At first a person names it: a stick that stalls
    /// while nobody knows its dialect is taken for a serial line.
    private let isDialectFoundOut: Bool
    /// Whether a modem was ready.
    private var isDialectSeen = false

    /// The most bytes that a port keeps for a process that does not read.
    private static let inputLimit = 4096

    init(_ plan: WorldPlan, number: Int) {
        dialect = plan.stickDialect
        settings = plan.stickSettings
        stick = dialect.makeStick(modem: plan.modem, seed: plan.seed &* 31 &+ UInt64(number))
        isDialectFoundOut = plan.seed % 3 == 0
    }

    // MARK: The port

    /// A process opens the port.
    func open(now: Int64) {
        let findsOut = isDialectFoundOut && isDialectSeen
        modem = RadioModem(
            ModemConfiguration(dialect: findsOut ? nil : dialect, settings: settings, limits: TransmitLimits()),
            kind: .board, remembered: findsOut ? dialect : nil, at: Instant(microseconds: now))
        input = []
        output = []
    }

    /// The modem is ready, so that the dialect is known from now on.
    func noteReady() { isDialectSeen = true }

    /// The process that had the port open has ended, or the port is gone.
    func close() {
        modem = nil
        input = []
        output = []
    }

    /// The stick gets power.
    func powerUp(now: Int64) { restart(now: now) }

    /// The stick restarts, and forgets what it had to send.
    func restart(now: Int64) {
        stick.cause(.reset, now: Instant(microseconds: now))
        onAir = nil
    }

    // MARK: Packets

    /// The host hands out a frame.
    func send(_ frame: [UInt8]) {
        unsent[frame, default: 0] += 1
        modem?.send(frame)
    }

    /// A packet of the air reaches the stick. RNode firmware expects a byte in front.
    func hear(_ packet: [UInt8], now: Int64) {
        guard stick.radio.hears(settings) else { return }
        let signal = RadioSignal(strengthDBm: -97, signalToNoiseTenthsDB: 70)
        stick.hear(dialect == .rnode ? [0xA0] + packet : packet, signal: signal, now: Instant(microseconds: now))
    }

    /// The transmission that begins now.
    /// - Returns: the frame, its airtime in microseconds, and whether the host handed out the frame and it was not sent before;
    ///   nil if no transmission begins.
    func nextTransmission(now: Int64) -> (frame: [UInt8], airtime: Int64, isOwed: Bool)? {
        guard onAir == nil, let next = stick.nextTransmission(now: Instant(microseconds: now)) else { return nil }
        let frame = dialect == .rnode ? Array(next.packet.dropFirst()) : next.packet
        let count = unsent[frame] ?? 0
        unsent[frame] = max(0, count - 1)
        onAir = frame
        return (frame, next.airtimeMicroseconds, count > 0)
    }

    /// Whether the stick's radio is set as the modem was told.
    var isSetUp: Bool { stick.radio == .on(settings) }

    // MARK: The line

    /// When the modem wants to be called; nil if nothing is expected.
    var modemDeadline: Int64? { modem?.nextDeadline?.microseconds }

    /// Moves bytes between the stick and the port's buffers.
    /// - Returns: whether bytes were moved.
    func moveBytes(now: Int64) -> Bool {
        let now = Instant(microseconds: now)
        let written = modem?.takeBytes() ?? []
        output += written
        var hasMoved = !written.isEmpty
        stick.advance(to: now)
        if stick.isTakingInput, !output.isEmpty {
            stick.receive(output, now: now)
            output = []
            hasMoved = true
        }
        let read = stick.takeOutput(now: now)
        if modem != nil, input.count + read.count <= StickPort.inputLimit { input += read }
        return hasMoved || !read.isEmpty
    }

    /// The process reads what has come in.
    func read(now: Int64) {
        guard !input.isEmpty else { return }
        let bytes = input
        input = []
        modem?.receive(bytes.span, at: Instant(microseconds: now))
    }
}
