import CollarARQ
import CollarPorts
import CollarWorld
import Testing

/// Connections to other machines that are made, end and are refused again.
@Suite("Series of connections to other machines") struct RemoteRadioSeriesTests {
    private let address = "tcp://base:4000"
    private let other = "tcp://barn:4000"

    private func bench(_ reason: String? = nil, reconnects: Bool = true) -> SimulatedPorts {
        var bench = SimulatedPorts(reconnects: reconnects)
        bench.unreachable[address] = reason
        bench.name(address, isNetwork: true)
        return bench
    }

    private func retrySeconds(_ bench: SimulatedPorts) -> Double? {
        bench.machine.nextRetry.map { Double($0.microseconds(since: bench.now)) / 1_000_000 }
    }

    @Test func theSameReasonIsReportedAgainAfterAConnection() {
        var bench = bench("refused")
        for _ in 0..<3 {
            bench.unreachable[address] = nil
            bench.run(seconds: 9)
            bench.bytesCame(address)
            bench.unreachable[address] = "refused"
            bench.hangUp(address)
            bench.run(seconds: 1)
        }
        let round = ["\(address) opened", "\(address) unplugged", "\(address) not connected: refused"]
        #expect(bench.takeNotices() == ["\(address) not connected: refused"] + round + round + round)
    }

    @Test func theSameReasonIsReportedAgainAfterALongConnectionWithoutBytes() {
        var bench = bench("refused")
        bench.unreachable[address] = nil
        bench.run(seconds: 20)
        bench.unreachable[address] = "refused"
        bench.hangUp(address)
        bench.run(seconds: 5)
        #expect(bench.takeNotices().filter { $0.hasSuffix("refused") }.count == 2)
    }

    @Test func reasonsThatTakeTurnsAreEachReported() {
        var bench = bench("refused")
        for reason in ["no route", "no route", "refused"] {
            bench.unreachable[address] = reason
            bench.run(seconds: 9)
        }
        #expect(
            bench.takeNotices() == ["refused", "no route", "refused"].map { "\(address) not connected: \($0)" })
    }

    @Test func aRefusalAfterALongConnectionBeginsTheSeriesAgain() {
        var bench = bench("refused")
        bench.run(seconds: 30)
        #expect(bench.attemptCount == 5)
        bench.unreachable[address] = nil
        bench.run(seconds: 9)
        bench.bytesCame(address)
        bench.unreachable[address] = "refused"
        bench.hangUp(address)
        var pauses: [Double] = []
        for _ in 0..<4 {
            let pause = retrySeconds(bench) ?? 0
            pauses.append(pause)
            bench.run(seconds: pause)
        }
        #expect(pauses == [1, 4, 9, 9])
    }

    @Test func shortConnectionsAndRefusalsAreOneSeries() {
        var bench = bench("refused")
        bench.run(seconds: 1)
        bench.unreachable[address] = nil
        bench.run(seconds: 4)
        #expect(bench.open == [address])
        bench.hangUp(address)
        #expect(retrySeconds(bench) == 9)
    }

    @Test func aConnectionOfAlmostTenSecondsWithoutBytesIsShort() {
        var bench = bench()
        bench.run(seconds: 9.9)
        bench.hangUp(address)
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged"])
        // The next one is long, so the one after it is reported again.
        bench.run(seconds: 10)
        bench.hangUp(address)
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(address) opened"])
    }

    @Test func bytesAreToldOnceForEachConnection() {
        var bench = bench()
        bench.hangUp(address)
        bench.run(seconds: 1)
        for _ in 0..<3 { bench.bytesCame(address) }
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged", "\(address) opened"])
        bench.hangUp(address)
        #expect(bench.takeNotices() == ["\(address) unplugged"])
    }

    @Test func bytesOfAFormerConnectionDoNotCountForTheNext() {
        var bench = bench()
        bench.bytesCame(address)
        bench.hangUp(address)
        bench.run(seconds: 1)
        bench.hangUp(address)
        #expect(retrySeconds(bench) == 4, "the first short connection")
        bench.run(seconds: 4)
        bench.hangUp(address)
        #expect(retrySeconds(bench) == 9, "the second one")
    }

    @Test func eachMachineHasASeriesOfItsOwn() {
        var bench = bench("refused")
        bench.run(seconds: 20)
        bench.unreachable[other] = "refused"
        bench.name(other, isNetwork: true)
        #expect(bench.takeNotices() == ["\(address) not connected: refused", "\(other) not connected: refused"])
        #expect(retrySeconds(bench).map { $0 <= 1 } == true)
        bench.unreachable[other] = nil
        bench.run(seconds: 1)
        #expect(bench.open == [other])
        bench.bytesCame(other)
        bench.unreachable[address] = nil
        bench.run(seconds: 9)
        #expect(bench.open == [address, other])
        bench.hangUp(address)
        #expect(bench.open == [other])
        #expect(bench.closed == [address])
    }

    @Test func aLostConnectionEndsAReceiverThatDoesNotReconnect() {
        var bench = bench(reconnects: false)
        bench.bytesCame(address)
        bench.hangUp(address)
        #expect(bench.end == .noDevice(path: address))
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged at the end"])
        #expect(bench.machine.nextRetry == nil)
    }

    @Test func aMachineIsNoSerialDevice() {
        var bench = bench()
        bench.bytesAreMissing()
        bench.udev()
        bench.run(seconds: 60)
        #expect(bench.readerSearchCount == 0)
        #expect(bench.open == [address])
        bench.hangUp(address)
        #expect(!bench.watchesDevices)
    }
}
