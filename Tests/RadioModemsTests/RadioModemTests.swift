import CollarARQ
import CollarWire
import Testing

@testable import RadioModems

@Suite("What a modem can do, for the status of its port")
struct RadioModemTests {
    private let start = Instant(microseconds: 0)

    private func modem(dialect: Dialect? = nil, settings: RadioSettings? = StickBench.settings) -> RadioModem {
        RadioModem(
            ModemConfiguration(dialect: dialect, settings: settings, limits: TransmitLimits()), kind: .remote, at: start)
    }

    /// The modem after everything that it does by itself within 20 s.
    private func settled(_ modem: RadioModem, hearing bytes: [UInt8] = []) -> RadioModem {
        var modem = modem
        modem.receive(bytes.span, at: start.advanced(byMicroseconds: 1000))
        let end = start.advanced(byMicroseconds: 20_000_000)
        while let due = modem.nextDeadline, due < end { modem.deadlineReached(at: due) }
        return modem
    }

    @Test("a port that was just opened is being detected")
    func detecting() {
        #expect(modem().condition == .detecting)
    }

    @Test("a serial line that was named carries packets at once")
    func namedSerialLine() {
        #expect(modem(dialect: .serial).condition == .carries)
    }

    @Test("a stick that was named carries packets while it is set up")
    func namedStick() {
        #expect(modem(dialect: .rnode).condition == .carries)
    }

    @Test("a port at which nothing answers carries packets, as a serial line")
    func silence() {
        #expect(settled(modem()).condition == .carries)
    }

    @Test("a stick without settings is unused", arguments: [Dialect.kiss, .rnode, .rui3])
    func noSettings(dialect: Dialect) {
        #expect(modem(dialect: dialect, settings: nil).condition == .unused)
    }

    @Test("a serial line needs no settings")
    func serialLineWithoutSettings() {
        #expect(modem(dialect: .serial, settings: nil).condition == .carries)
    }

    @Test("a GNSS receiver at the port is a stranger")
    func stranger() {
        let sentence = "$GPGGA,092750.000,5321.6802,N,00630.3372,W,1,8,1.03,61.7,M,55.2,M,,*76\r\n"
        #expect(settled(modem(), hearing: Array((sentence + sentence + sentence).utf8)).condition == .stranger)
    }
}
