import CollarARQ
import CollarPorts
import CollarWorld
import Testing

/// Other programs that have the receiver's line open: when the receiver looks for them, and its reports.
@Suite("Other readers of open lines") struct OtherReadersTests {
    private let second = "/dev/ttyUSB1"
    private let cat = ProcessHolder(processID: 9, name: "cat")
    private let tio = ProcessHolder(processID: 10, name: "tio")

    private func bench() -> SimulatedPorts {
        var bench = SimulatedPorts()
        bench.nodes[node] = .init(device: SimulatedPorts.device())
        bench.name(node)
        _ = bench.takeNotices()
        return bench
    }

    /// The time until the next look at open lines, in seconds.
    private func look(_ bench: SimulatedPorts) -> Double? {
        bench.machine.nextLook.map { Double($0.microseconds(since: bench.now)) / 1_000_000 }
    }

    @Test func furtherNewsDoNotPostponeTheLook() {
        var bench = bench()
        bench.othersOpened()
        #expect(look(bench) == 0.3)
        bench.run(seconds: 0.2)
        bench.othersOpened()
        bench.run(seconds: 0.1)
        #expect(look(bench) == nil)
        #expect(bench.readerSearchCount == 2, "at the opening and now")
    }

    @Test func aSecondLookComesASecondAfterTheFirst() {
        var bench = bench()
        bench.othersOpened()
        bench.run(seconds: 0.4)
        bench.othersOpened()
        #expect(look(bench) == 0.9)
        bench.run(seconds: 3)
        bench.othersOpened()
        #expect(look(bench) == 0.3)
    }

    @Test func anotherProgramIsReportedAfterTheFirst() {
        var bench = bench()
        for reader in [cat, tio, cat] {
            bench.nodes[node]?.reader = reader
            bench.othersOpened()
            bench.run(seconds: 2)
        }
        #expect(bench.takeNotices() == ["\(node) read by cat", "\(node) read by tio", "\(node) read by cat"])
    }

    @Test func twoProgramsOfOneNameAreEachReported() {
        var bench = bench()
        for id in [9, 11] as [Int32] {
            bench.nodes[node]?.reader = ProcessHolder(processID: id, name: "cat")
            bench.othersOpened()
            bench.run(seconds: 2)
        }
        #expect(bench.takeNotices() == ["\(node) read by cat", "\(node) read by cat"])
    }

    @Test func oneThatIsNotSeenIsReportedOnceForEachLine() {
        var bench = bench()
        bench.nodes[node]?.isOpenedByOthers = true
        for _ in 0..<2 {
            bench.othersOpened()
            bench.run(seconds: 2)
        }
        #expect(bench.takeNotices() == ["\(node) read by somebody"])
        bench.hangUp(node)
        #expect(bench.takeNotices() == ["\(node) unplugged", "\(node) opened", "\(node) read by somebody"])
    }

    @Test func oneThatIsSeenIsNotReportedAsUnseen() {
        var bench = bench()
        bench.nodes[node]?.isOpenedByOthers = true
        bench.nodes[node]?.reader = cat
        bench.othersOpened()
        bench.run(seconds: 2)
        #expect(bench.takeNotices() == ["\(node) read by cat"])
        bench.nodes[node]?.reader = nil
        bench.othersOpened()
        bench.run(seconds: 2)
        #expect(bench.takeNotices() == ["\(node) read by somebody"])
    }

    @Test func missingBytesAreLookedAtAgainAfterAWholeMinute() {
        var bench = bench()
        let before = bench.readerSearchCount
        bench.bytesAreMissing()
        bench.run(seconds: 59.9)
        bench.bytesAreMissing()
        #expect(bench.readerSearchCount - before == 1)
        bench.run(seconds: 0.1)
        bench.bytesAreMissing()
        #expect(bench.readerSearchCount - before == 2)
        bench.run(seconds: 59)
        bench.bytesAreMissing()
        #expect(bench.readerSearchCount - before == 2)
    }

    @Test func missingBytesAreLookedForAtEveryOpenLine() {
        var bench = bench()
        bench.nodes[second] = .init(device: SimulatedPorts.device(second, serial: "B2"))
        bench.name(second)
        bench.name("/dev/absent")
        bench.name("tcp://base:4000", isNetwork: true)
        _ = bench.takeNotices()
        let before = bench.readerSearchCount
        bench.nodes[node]?.reader = cat
        bench.nodes[second]?.reader = tio
        bench.bytesAreMissing()
        #expect(bench.readerSearchCount - before == 2)
        #expect(bench.takeNotices() == ["\(node) read by cat", "\(second) read by tio"])
    }

    @Test func eachLineHasALookOfItsOwn() {
        var bench = bench()
        bench.nodes[second] = .init(device: SimulatedPorts.device(second, serial: "B2"))
        bench.name(second)
        let before = bench.readerSearchCount
        bench.othersOpened(second)
        bench.run(seconds: 0.2)
        bench.othersOpened(node)
        #expect(look(bench).map { abs($0 - 0.1) < 0.001 } == true)
        bench.run(seconds: 0.1)
        #expect(bench.readerSearchCount - before == 1)
        bench.run(seconds: 0.2)
        #expect(bench.readerSearchCount - before == 2)
        #expect(look(bench) == nil)
    }

    @Test func aClosedLineIsNotLookedAt() {
        var bench = bench()
        bench.othersOpened()
        bench.vanish()
        let before = bench.readerSearchCount
        bench.run(seconds: 5)
        bench.bytesAreMissing()
        #expect(bench.readerSearchCount == before)
        #expect(bench.machine.nextLook == nil)
    }

    @Test func aRenewedLineIsOpenAndReportsNothing() {
        var bench = bench()
        for round in 1...3 {
            bench.renew()
            #expect(bench.open == [])
            bench.run(seconds: 0)
            #expect(bench.open == [node])
            #expect(bench.closed.count == round)
        }
        #expect(bench.takeNotices() == Array(repeating: "\(node) opened", count: 3))
    }

    @Test func aLineThatIsBusyAfterItsRenewalIsTriedAgain() {
        var bench = bench()
        bench.renew()
        bench.nodes[node]?.error = busy
        bench.run(seconds: 0)
        #expect(bench.takeNotices() == ["\(node) busy with cat"])
        bench.nodes[node]?.error = nil
        bench.run(seconds: 1)
        #expect(bench.open == [node])
    }
}
