import CollarARQ
import CollarPorts
import CollarWorld
import Testing

@Suite("Radios at other machines") struct RemoteRadioTests {
    private let address = "tcp://base:4000"

    private func bench(unreachable reason: String? = nil) -> SimulatedPorts {
        var bench = SimulatedPorts()
        bench.unreachable[address] = reason
        bench.name(address, isNetwork: true)
        return bench
    }

    @Test func isConnected() {
        var bench = bench()
        #expect(bench.takeNotices() == ["\(address) opened"])
        #expect(bench.readerSearchCount == 0)
    }

    @Test func aFailureIsReportedOnceForEachReason() {
        var bench = bench(unreachable: "refused")
        bench.run(seconds: 60)
        bench.unreachable[address] = "no route"
        bench.run(seconds: 60)
        #expect(bench.takeNotices() == ["\(address) not connected: refused", "\(address) not connected: no route"])
    }

    @Test func isTriedAfterOneFourAndNineSeconds() {
        var bench = bench(unreachable: "refused")
        bench.run(seconds: 13.9)
        #expect(bench.attemptCount == 3)
        bench.run(seconds: 0.1)
        #expect(bench.attemptCount == 4)
        bench.run(seconds: 9)
        #expect(bench.attemptCount == 5)
    }

    @Test func aConnectionThatHasCarriedBytesIsMadeAgainSoon() {
        var bench = bench()
        bench.bytesCame(address)
        bench.hangUp(address)
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged", "\(address) opened"])
    }

    @Test func aMachineThatClosesAtOnceIsReportedOnceAndCalledLessOften() {
        var bench = bench()
        for _ in 0..<5 {
            bench.hangUp(address)
            bench.run(seconds: 9)
        }
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged"])
        bench.hangUp(address)
        #expect(bench.machine.nextRetry?.microseconds(since: bench.now) == 9_000_000)
    }

    @Test func bytesEndTheSilenceAboutIt() {
        var bench = bench()
        bench.hangUp(address)
        bench.run(seconds: 1)
        bench.bytesCame(address)
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged", "\(address) opened"])
        bench.hangUp(address)
        #expect(bench.machine.nextRetry?.microseconds(since: bench.now) == 1_000_000)
    }

    @Test func aConnectionOfTenSecondsIsNotShort() {
        var bench = bench()
        bench.run(seconds: 10)
        bench.hangUp(address)
        bench.run(seconds: 1)
        #expect(bench.takeNotices() == ["\(address) opened", "\(address) unplugged", "\(address) opened"])
    }
}

@Suite("Open lines") struct OpenLineTests {
    private func bench(_ change: (inout SimulatedPorts.Node) -> Void = { _ in }) -> SimulatedPorts {
        var bench = SimulatedPorts()
        var place = SimulatedPorts.Node(device: SimulatedPorts.device())
        change(&place)
        bench.nodes[node] = place
        bench.name(node)
        return bench
    }

    @Test func anotherReaderIsReportedAtTheOpening() {
        var bench = bench { $0.reader = ProcessHolder(processID: 9, name: "cat") }
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) read by cat"])
    }

    @Test func anotherReaderIsSoughtAMomentAfterItCame() {
        var bench = bench()
        bench.nodes[node]?.reader = ProcessHolder(processID: 9, name: "cat")
        bench.othersOpened()
        bench.run(seconds: 0.2)
        #expect(bench.takeNotices() == ["\(node) opened"])
        bench.run(seconds: 0.1)
        #expect(bench.takeNotices() == ["\(node) read by cat"])
    }

    @Test func oneThatClosesAtOnceIsNotReported() {
        var bench = bench()
        bench.othersOpened()
        bench.run(seconds: 5)
        #expect(bench.takeNotices() == ["\(node) opened"])
        #expect(bench.machine.nextLook == nil)
    }

    @Test func oneThatOpensAllTheTimeIsSoughtOnceASecond() {
        var bench = bench()
        let before = bench.readerSearchCount
        for _ in 0..<100 {
            bench.othersOpened()
            bench.run(seconds: 0.1)
        }
        #expect((9...11).contains(bench.readerSearchCount - before))
    }

    @Test func aReaderIsReportedOnceWhileItStays() {
        var bench = bench { $0.reader = ProcessHolder(processID: 9, name: "cat") }
        for _ in 0..<3 {
            bench.othersOpened()
            bench.run(seconds: 2)
        }
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) read by cat"])
    }

    @Test func aReaderThatReturnsIsReportedAgain() {
        var bench = bench { $0.reader = ProcessHolder(processID: 9, name: "cat") }
        bench.nodes[node]?.reader = nil
        bench.othersOpened()
        bench.run(seconds: 2)
        bench.nodes[node]?.reader = ProcessHolder(processID: 9, name: "cat")
        bench.othersOpened()
        bench.run(seconds: 2)
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) read by cat", "\(node) read by cat"])
    }

    @Test func aReaderThatIsNotSeenIsReportedOnce() {
        var bench = bench()
        bench.nodes[node]?.isOpenedByOthers = true
        for _ in 0..<3 {
            bench.othersOpened()
            bench.run(seconds: 2)
        }
        #expect(bench.takeNotices() == ["\(node) opened", "\(node) read by somebody"])
    }

    @Test func missingBytesLeadToASearchOnceAMinute() {
        var bench = bench()
        let before = bench.readerSearchCount
        for _ in 0..<10 {
            bench.bytesAreMissing()
            bench.run(seconds: 12)
        }
        #expect(bench.readerSearchCount - before == 2)
    }

    @Test func aNewLineForgetsTheReader() {
        var bench = bench { $0.reader = ProcessHolder(processID: 9, name: "cat") }
        bench.hangUp(node)
        #expect(bench.takeNotices().suffix(2) == ["\(node) opened", "\(node) read by cat"])
    }

    @Test func aDeviceIsOpenedAgainToRenewIt() {
        var bench = bench()
        bench.renew()
        #expect(bench.closed == [node])
        #expect(bench.renewedCount == 0)
        bench.run(seconds: 0)
        #expect(bench.open == [node])
        #expect(!bench.takeNotices().contains("\(node) unplugged"))
    }

    @Test func aLineOfTwoNamesIsOpenedAgainByOneOfThemToRenewIt() {
        var bench = bench()
        bench.links["/dev/radio"] = node
        bench.name("/dev/radio")
        bench.renew()
        bench.run(seconds: 1)
        #expect(bench.open == [node])
        #expect(bench.opened == [node, node])
    }

    @Test func aPseudoTerminalStaysOpenWhileItsModemIsRenewed() {
        var bench = SimulatedPorts()
        bench.nodes["/dev/pts/3"] = .init(isPseudoTerminal: true)
        bench.name("/dev/pts/3")
        bench.renew("/dev/pts/3")
        #expect(bench.renewedCount == 1)
        #expect(bench.closed == [])
    }
}
