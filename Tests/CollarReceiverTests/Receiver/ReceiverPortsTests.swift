import CollarARQ
import CollarControl
import CollarFormats
import CollarHost
import CollarJournal
import CollarWire
import RadioModems
import Testing

@testable import CollarReceiver

/// Ports that are opened, closed and unplugged, as a capture has them.
@Suite struct ReceiverPortsTests {
    private func text(_ run: ReceiverBench.Run) throws -> [String] {
        try run.lines(.link).map { "\($0["event"]?.text ?? "") \($0["port"]?.text ?? $0["collar"]?.text ?? "")" }
    }

    /// Bytes of a port that is closed are not taken.
    @Test func bytesCountWhileThePortIsOpen() throws {
        let bench = try ReceiverBench([.fix, .link])
        let collar = RecordedCollar()
        var day = RecordedDay(opensPort: false)
        day.receive(try collar.identity(next: 9))
        day.open()
        day.receive(try collar.identity(next: 9))
        day.receive(try collar.fix(0))
        day.note(.closed)
        day.receive(try collar.fix(1))
        day.open()
        day.receive(try collar.fix(2))
        day.note(.unplugged)
        day.receive(try collar.fix(3))
        day.note(.closed)
        day.note(.unplugged)
        day.open()
        day.receive(try collar.fix(4))
        day.open()
        day.receive(try collar.fix(5))
        let run = try bench.play(day)
        #expect(try run.sequences() == [0, 2, 4, 5])
        let port = RecordedDay.port
        let links = try text(run).filter { $0.hasSuffix(port) && !$0.hasPrefix("heard") }
        #expect(links == ["opened \(port)", "opened \(port)", "unplugged \(port)", "opened \(port)", "opened \(port)"])
        #expect(run.figures.radios.map(\.state) == [.open])
        #expect(run.figures.radios.map(\.dialect) == ["serial"])
    }

    /// A section of another run has no port open at its start.
    @Test func aFurtherSectionBeginsWithoutOpenPorts() throws {
        let bench = try ReceiverBench()
        let collar = RecordedCollar()
        for event in [.began(receiverID: 0xC0_FFEE), .ended] as [CaptureEvent] {
            let other = try ReceiverBench()
            var day = RecordedDay()
            try day.receiveFixes(0..<2, of: collar)
            day.note(event, port: "collar-link")
            day.receive(try collar.identity(next: 9))
            day.receive(try collar.fix(2))
            let run = try other.play(day)
            #expect(try run.sequences() == [0, 1])
            #expect(run.figures.radios.map(\.state) == [.gone])
        }
        #expect(try bench.play(RecordedDay()).figures.radios.map(\.state) == [.open])
    }

    /// Each of two ports has its own state.
    @Test func oneOfTwoPortsIsUnplugged() throws {
        let bench = try ReceiverBench([.fix, .link])
        let collars = [RecordedCollar(), RecordedCollar(0xC1, logID: 78, address: 10)]
        var day = RecordedDay()
        day.open("/dev/ttyUSB8")
        try day.receiveFixes(0..<2, of: collars[0])
        try day.receiveFixes(0..<2, of: collars[1], port: "/dev/ttyUSB8")
        day.note(.unplugged)
        day.receive(try collars[0].identity(next: 5), try collars[0].fix(2))
        try day.receiveFixes(2..<3, of: collars[1], port: "/dev/ttyUSB8")
        let run = try bench.play(day)
        let ofSecond = try run.lines(.fix).filter { $0["collar"]?.text == "00000000000000c1" }
        #expect(try run.sequences().count == 5 && ofSecond.count == 3)
        #expect(run.figures.radios.map(\.port) == [RecordedDay.port, "/dev/ttyUSB8"])
        #expect(run.figures.radios.last?.state == .open && run.figures.radios.first?.state != .open)
    }

    /// When an opening is reported: now, with the first bytes, or never.
    @Test func anOpeningIsReportedWhenItIsDue() throws {
        for (report, seconds) in [(.now, [1]), (.firstBytes, [3]), (.none, [])] as [(PortOpening.Report, [Double])] {
            let bench = try ReceiverBench([.link])
            var day = RecordedDay(opensPort: false)
            day.wait(seconds: 1)
            day.open(report: report)
            for _ in 0..<3 {
                day.wait(seconds: 2)
                day.receive(try RecordedCollar().identity())
            }
            let run = try bench.play(day)
            #expect(try run.lines(.link).filter { $0["event"]?.text == "opened" }.compactMap(\.second) == seconds, "\(report)")
        }
    }

    /// A port on which nothing is heard is told, although another one before it needs nothing.
    @Test func eachPortOnWhichNoCollarIsHeardIsTold() throws {
        let bench = try ReceiverBench([.error])
        var day = RecordedDay()
        day.open("/dev/ttyUSB8")
        day.open("/dev/ttyUSB9", dialect: nil)
        day.receive(try RecordedCollar().identity())
        #expect(try bench.play(day).figures.radios.map(\.state) == [.open, .open, .detecting])
        day.pass(seconds: 600)
        let run = try bench.play(day)
        #expect(run.figures.radios.map(\.state) == [.open, .open, .open])
        let silent = run.notices.compactMap { if case .host(.link(let path, .noIdentity)) = $0 { path } else { nil } }
        #expect(Set(silent) == ["/dev/ttyUSB8", "/dev/ttyUSB9"])
    }

    /// What a playback records is the capture that was played, and its lines are the same.
    @Test func aPlaybackCanBeRecorded() throws {
        let bench = try ReceiverBench([.fix, .link, .error, .stats]) { $0.reportsTraffic = true }
        bench.configuration.capturePath = "\(bench.folder)/recorded"
        var day = RecordedDay()
        try day.receiveFixes(0..<5, of: RecordedCollar())
        day.pass(seconds: 250)
        day.note(.unplugged)
        let run = try bench.play(day)
        let recorded = try bench.read("recorded")
        var reader = CaptureReader()
        reader.append(recorded)
        var (reads, writes, ends) = (0, 0, 0)
        while let record = try reader.next() {
            switch record.event {
            case .read: reads += 1
            case .wrote: writes += 1
            case .ended: ends += 1
            default: break
            }
        }
        #expect(reads == 6 && writes > 0 && ends == 1)
        let traffic = run.notices.compactMap { if case .traffic(_, let isInbound, _) = $0 { isInbound } else { nil } }
        #expect(traffic.count { $0 } == reads && traffic.count { !$0 } == writes)
        let again = try ReceiverBench([.fix, .link, .error, .stats])
        #expect(try again.play(bytes: recorded).text == run.text)
    }

    /// The receiver is the one whose capture is played.
    @Test func aCollarOfTheRecordedReceiverIsItsOwn() throws {
        for (receiverID, isOther) in [(5, false), (6, true)] as [(UInt32, Bool)] {
            let bench = try ReceiverBench()
            var day = RecordedDay(receiverID: 5)
            day.receive(try RecordedCollar().identity(receiverID: receiverID))
            let notices = try bench.play(day).notices
            #expect(notices.contains(.host(.collar(0xC0, .pairedElsewhere(receiverID: receiverID)))) == isOther)
        }
    }

    /// The radio of a collar that is silent for long is set up once more, unless another collar is heard there.
    @Test func theRadioOfASilentCollarIsRenewed() throws {
        for hasCompany in [false, true] {
            let bench = try ReceiverBench([.link])
            var day = RecordedDay()
            day.open("/dev/ttyUSB8")
            day.receive(try RecordedCollar().identity(heartbeat: 4))
            for _ in 0..<10 {
                day.pass(seconds: 10)
                if hasCompany { day.receive(try RecordedCollar(0xC1, logID: 78, address: 10).identity(heartbeat: 100)) }
            }
            let run = try bench.play(day)
            #expect(try run.lines(.link).filter { $0["event"]?.text == "unhealthy" }.count == 1)
            let renewals = run.notices.filter { if case .renewing = $0 { true } else { false } }
            #expect(renewals == (hasCompany ? [] : [.renewing(path: RecordedDay.port, deviceID: 0xC0)]))
        }
    }

    /// A playback is no run of the receiver: it leaves the mark of one alone.
    @Test func aPlaybackLeavesTheMarkOfARunAlone() throws {
        let bench = try ReceiverBench()
        let boot = String(decoding: try bench.read("../../proc/sys/kernel/random/boot_id"), as: UTF8.self)
        let mark = "process=77\nboot=\(boot)"
        try bench.write(mark, to: "state/running")
        let run = try bench.play(RecordedDay())
        #expect(!run.notices.contains { if case .crashed = $0 { true } else { false } })
        #expect(String(decoding: try bench.read("state/running"), as: UTF8.self) == mark)
    }

    @Test func aFileThatIsNoCaptureEndsTheStart() throws {
        let bench = try ReceiverBench { $0.capturePath = "/dev/null" }
        #expect(throws: ReceiverError.captureFile(.notAFile(path: "/dev/null"))) { try bench.play(RecordedDay()) }
        #expect(try ReaderFiles(stateDirectory: bench.stateDirectory).names() == [], "the directory of the named readers is there")
    }
}
