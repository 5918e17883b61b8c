import Board
import CollarARQ
import CollarFirmware
import CollarWire

/// The hardware of a base radio: moves bytes between the host's line, a `BaseRadio` and the radio module, and decides nothing.
struct BasePorts: ~Copyable {
    /// The longest sleep, in microseconds: the watchdog must be fed.
    private static let longestWaitMicroseconds: Int64 = 1_000_000

    private var clock = Clock()
    private var watchdog = Watchdog()
    private var host = UART(0)
    private var hostOutput = LineOutput()
    private var module = EmulatedRadio(at: UART(1))

    /// The time since the start.
    mutating func now() -> Instant { clock.now() }

    /// Does everything that is due, and sleeps until something may be due again.
    mutating func serve(_ base: inout BaseRadio) {
        watchdog.feed()
        let now = clock.now()
        readHost(&base, now: now)
        module.receive { base.receive(packet: $0, signal: $1) }
        writeHost(&base)
        send(&base, now: now)
        let latest = now.advanced(byMicroseconds: Self.longestWaitMicroseconds)
        clock.wait(until: min(latest, module.transmissionEnd ?? base.nextDeadline(now: now) ?? latest))
    }

    private mutating func readHost(_ base: inout BaseRadio, now: Instant) {
        while let byte = host.read() {
            let bytes: InlineArray<1, UInt8> = [byte]
            base.receiveFromHost(bytes.span, now: now)
        }
    }

    private mutating func writeHost(_ base: inout BaseRadio) {
        hostOutput.write(to: &host)
        while hostOutput.isEmpty {
            var isFrame = false
            hostOutput.fill { isFrame = base.nextHostFrame(into: &$0) }
            guard isFrame else { return }
            hostOutput.write(to: &host)
        }
    }

    private mutating func send(_ base: inout BaseRadio, now: Instant) {
        if module.advance(now: now) { base.transmissionEnded(now: now) }
        var count = 0
        let packet = InlineArray<253, UInt8> { (output: inout OutputSpan<UInt8>) in
            _ = base.nextPacket(now: now, into: &output)
            count = output.count
            while output.freeCapacity > 0 { output.append(0) }
        }
        guard count > 0 else { return }
        module.send(
            packet.span.extracting(0..<count), airtimeMicroseconds: base.airtimeMicroseconds(packetByteCount: count), now: now)
    }
}
