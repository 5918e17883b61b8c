import CollarARQ
import CollarConfiguration
import CollarControl
import CollarHost
import CollarJournal
import CollarPorts
import CollarWire
import RadioModems
import Testing

@testable import CollarReceiver

/// Bytes between a line, its modem and the host.
@Suite struct StickTrafficTests {
    private static let path = "tcp://10.0.0.1:7000"

    /// The answers of a RUI3 stick that takes every setting.
    private static func answer(_ line: String, frequencyHertz: Int = 869_525_000) -> String {
        switch line {
        case "AT+NWM=?": "AT+NWM=0\r\nOK\r\n"
        case "AT+VER=?": "AT+VER=RUI_4.0.6_RAK3172-E\r\nOK\r\n"
        case "AT+P2P=?": "AT+P2P=\(frequencyHertz):7:0:0:8:14\r\nOK\r\n"
        default: "OK\r\n"
        }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// A bench with a RUI3 stick that was set up.
    private func readyStick(frequencyHertz: Int = 869_525_000) throws -> (bench: PortsBench, port: RadioPort, line: PortsBench.Line) {
        let bench = try PortsBench({
            $0.radio = try PortsBench.configuration([
                .dialect: "rui3", .region: "eu868", .frequency: RadioText.megahertz(UInt32(frequencyHertz)), .bandwidth: "125", .spreadingFactor: "7", .codingRate: "5", .power: "14",
            ])
        })
        let line = PortsBench.Line(.network)
        let port = bench.open(Self.path, line)
        for _ in 0..<100 {
            let asked = line.takeText()
            if asked.isEmpty {
                if case .modem(_, .ready)? = bench.notices.last { break }
                try bench.passToDeadline()
            }
            for text in asked { try bench.receive(Array(Self.answer(text, frequencyHertz: frequencyHertz).utf8), at: port, line) }
        }
        return (bench, port, line)
    }

    @Test func aStickThatIsReadyIsToldRecordedAndRemembered() throws {
        let (bench, port, _) = try readyStick()
        let found = bench.notices.compactMap { if case .modem(Self.path, .found(let dialect, _)) = $0 { dialect } else { nil } }
        #expect(found == [.rui3])
        #expect(try bench.records().contains { $0.event == .found(.rui3) && $0.port == Self.path })
        #expect(StickMemory(stateDirectory: bench.folder).dialect(of: Self.path) == .rui3)
        #expect(bench.ports.figures.map(\.state) == [.open] && bench.ports.figures.map(\.dialect) == ["rui3"])
        #expect(port.modem?.isSerialLine == false)
    }

    /// The packets of a stick are frames, and the frames of an answer are packets: they go out once the answer is whole. What is
    /// transmitted counts, and the next start knows of it.
    @Test func packetsComeInAndAnswersGoOut() throws {
        let (bench, port, line) = try readyStick()
        #expect(AirtimeMemory(stateDirectory: bench.folder).isRested(at: bench.now.unixMilliseconds))
        let collar = RecordedCollar()
        for frame in [try collar.identity(next: 2), try collar.fix(0), try collar.fix(1, poll: 3)] {
            try bench.receive(Array("+EVT:RXP2P:-90:7:\(hexadecimal(frame))\r\n".utf8), at: port, line)
        }
        #expect(bench.host.statistics.fixes == 2)
        _ = line.takeText()
        bench.answer()
        for _ in 0..<3 where line.written.isEmpty { try bench.passToDeadline() }
        let sent = line.takeText().filter { $0.hasPrefix("AT+PSEND=") }
        #expect(sent.count == 1)
        try bench.receive(Array("OK\r\n+EVT:TXP2P DONE\r\n".utf8), at: port, line)
        #expect((10_000...500_000).contains(bench.ports.airtimeMicroseconds), "some frames at spreading factor 7")
        #expect(!AirtimeMemory(stateDirectory: bench.folder).isRested(at: bench.now.unixMilliseconds))
    }

    /// The airtimes of all answers are added.
    @Test func airtimesAreAdded() throws {
        let (bench, port, line) = try readyStick()
        let collar = RecordedCollar()
        var sums: [Int64] = []
        for sequence in 0..<2 as Range<UInt32> {
            for frame in [try collar.identity(next: sequence + 1), try collar.fix(sequence, poll: UInt8(sequence) + 1)] {
                try bench.receive(Array("+EVT:RXP2P:-90:7:\(hexadecimal(frame))\r\n".utf8), at: port, line)
            }
            bench.answer()
            for _ in 0..<20 {
                let asked = line.takeText()
                for text in asked {
                    let end = text.hasPrefix("AT+PSEND=") ? "+EVT:TXP2P DONE\r\n" : ""
                    try bench.receive(Array("OK\r\n\(end)".utf8), at: port, line)
                }
                guard asked.isEmpty else { continue }
                bench.pass(milliseconds: 200)
                try bench.ports.deadlineReached(at: bench.now)
            }
            sums.append(bench.ports.airtimeMicroseconds)
        }
        try #require(sums.count == 2)
        #expect(sums[0] > 0 && sums[1] > sums[0])
    }

    /// At 864 MHz a stick has 0.9 s of airtime at once. When half of them are used, the user is told, and the collar is asked for fewer
    /// polls, as if it had many neighbours.
    @Test func shortAirtimeIsToldBeforeAnswersAreLeftOut() throws {
        let (bench, port, line) = try readyStick(frequencyHertz: 864_000_000)
        let collar = RecordedCollar()
        var companies: [Company] = []
        try bench.receive(Array("+EVT:RXP2P:-90:7:\(hexadecimal(try collar.identity(next: 1)))\r\n".utf8), at: port, line)
        for sequence in 0..<20 as Range<UInt32> where companies.last != .many {
            let fix = try collar.fix(sequence, poll: UInt8(sequence % 7) + 1)
            try bench.receive(Array("+EVT:RXP2P:-90:7:\(hexadecimal(fix))\r\n".utf8), at: port, line)
            bench.answer()
            for _ in 0..<20 {
                for text in line.takeText() {
                    let packet = text.hasPrefix("AT+PSEND=") ? [UInt8](hexadecimal: text.dropFirst(9)) : nil
                    if let packet, let header = try? FrameHeader(packet.span), header.type == .acknowledgement {
                        companies.append(try Acknowledgement(decoding: packet.span, header: header).company)
                    }
                    try bench.receive(Array("OK\r\n\(packet == nil ? "" : "+EVT:TXP2P DONE\r\n")".utf8), at: port, line)
                }
                bench.pass(milliseconds: 10)
                try bench.ports.deadlineReached(at: bench.now)
            }
        }
        #expect(companies.count > 2 && Set(companies.dropLast()) == [.alone] && companies.last == .many)
        #expect(bench.ports.figures.map(\.isAirtimeShort) == [true])
        let told = bench.takeNotices().compactMap { notice -> Int64? in
            switch notice {
            case .modem(Self.path, .airtimeShort(let used, 1000, 864_000_000)): used
            case .modem(Self.path, .dutyCycleReached): 0
            default: nil
            }
        }
        #expect(told.count == 1 && told.allSatisfy { (450_000...550_000).contains($0) }, "\(told)")
        bench.ports.detachModem(of: port, isLost: false, at: bench.now)
        #expect(bench.ports.figures.map(\.isAirtimeShort) == [false])
    }

    /// A stick with this project's firmware leaves out by itself what its region does not allow; the frequency is the stick's own.
    @Test(arguments: [(864_000_000, true), (869_525_000, false), (900_000_000, false)] as [(UInt32, Bool)])
    func theAirtimeOfALineIsThatOfItsStick(frequencyHertz: UInt32, isShort: Bool) throws {
        let bench = try PortsBench({ $0.radio = try PortsBench.configuration([.dialect: "serial", .region: "eu868"]) })
        let line = PortsBench.Line(.board)
        let port = bench.open("/dev/ttyUSB0", line)
        let radio = LoRaSettings(
            frequencyHertz: frequencyHertz, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, preambleSymbols: 8,
            hasExplicitHeader: true, hasCRC: true, optimizesLowDataRate: false, powerDBm: 14)
        let settings = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try ModemSettings(modulation: .lora(radio), turnaroundMilliseconds: 60).encode(into: &output)
        }
        let collar = RecordedCollar()
        try bench.receive(RecordedDay.serialBytes(of: [settings, try collar.identity(next: 1)]), at: port, line)
        for sequence in 0..<20 as Range<UInt32> {
            try bench.receive(RecordedDay.serialBytes(of: [try collar.fix(sequence, poll: UInt8(sequence % 7) + 1)]), at: port, line)
            bench.answer()
            bench.pass(milliseconds: 1000)
        }
        #expect(bench.ports.figures.map(\.isAirtimeShort) == [isShort])
        let told = bench.takeNotices().count { if case .modem(_, .airtimeShort(_, 1000, frequencyHertz)) = $0 { true } else { false } }
        #expect(told == (isShort ? 1 : 0))
    }

    /// A fix that came in while the dialect was not known is stored when it is.
    @Test func whatWasHeardDuringTheDetectionCounts() throws {
        let bench = try PortsBench()
        let line = PortsBench.Line(.remote)
        let port = bench.open("/dev/pts/900", line)
        let frames = [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0)]
        try bench.receive(RecordedDay.serialBytes(of: frames), at: port, line)
        for _ in 0..<100 where port.modem?.condition == .detecting { try bench.passToDeadline() }
        #expect(bench.ports.figures.map(\.dialect) == ["serial"])
        #expect(bench.host.statistics.fixes == 1)
    }

    /// A line that is only assumed to be serial carries frames. The first one shows that it is, and is remembered.
    @Test func theFirstFrameOfAnAssumedLineCounts() throws {
        let bench = try PortsBench()
        let line = PortsBench.Line(.network)
        let port = bench.open(Self.path, line)
        for _ in 0..<100 where port.modem?.condition == .detecting { try bench.passToDeadline() }
        #expect(bench.host.statistics.frames == 0 && port.modem?.isTransparent == false)
        #expect(StickMemory(stateDirectory: bench.folder).dialect(of: Self.path) == nil)
        let frames = [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0)]
        try bench.receive(RecordedDay.serialBytes(of: frames), at: port, line)
        #expect(bench.host.statistics.fixes == 1)
        #expect(StickMemory(stateDirectory: bench.folder).dialect(of: Self.path) == .serial)
    }

    /// A line that has many bytes is read until its turn is over; one that has few is read once.
    @Test func aTurnEndsAtItsTime() throws {
        let bench = try PortsBench({ $0.radio = try PortsBench.configuration([.dialect: "serial"]) })
        let line = PortsBench.Line(.board)
        let port = bench.open("/dev/ttyUSB0", line)
        let present = HostTime.now
        // The turn has no time: one read is taken, and no more.
        let past = HostTime(instant: present.instant.advanced(byMicroseconds: -1_000_000_000), unixMilliseconds: present.unixMilliseconds)
        let later = HostTime(instant: present.instant.advanced(byMicroseconds: 1_000_000_000), unixMilliseconds: present.unixMilliseconds)
        for (time, rests) in [(past, [700, 400, 100, 0]), (later, [0])] {
            line.incoming = [UInt8](repeating: 7, count: 1000)
            var counts: [Int] = []
            for _ in rests {
                try bench.ports.read(port, line, at: time)
                counts.append(line.incoming.count)
            }
            #expect(counts == rests)
        }
    }

    /// Both directions are recorded, and reported if the configuration says so.
    @Test(arguments: [true, false])
    func bytesAreToldToWhoWantsThem(areWanted: Bool) throws {
        let bench = try PortsBench({
            $0.radio = try PortsBench.configuration([.dialect: "serial"])
            $0.reportsTraffic = areWanted
        })
        let line = PortsBench.Line(.board)
        let port = bench.open("/dev/ttyUSB0", line)
        _ = bench.takeNotices()
        let frames = RecordedDay.serialBytes(of: [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0, poll: 3)])
        line.capacity = 3
        try bench.receive(frames, at: port, line)
        bench.answer()
        line.capacity = .max
        bench.ports.flush(port, at: bench.now)
        try #require(line.written.count > 3)
        let written = [Array(line.written.prefix(3)), Array(line.written.dropFirst(3))]
        let expected: [ReceiverNotice] = [
            .traffic(path: "/dev/ttyUSB0", isInbound: true, bytes: frames),
            .traffic(path: "/dev/ttyUSB0", isInbound: false, bytes: written[0]),
            .traffic(path: "/dev/ttyUSB0", isInbound: false, bytes: written[1]),
        ]
        #expect(bench.takeNotices() == (areWanted ? expected : []))
        let recorded = try bench.records().filter { $0.port == "/dev/ttyUSB0" }.map(\.event)
        #expect(Array(recorded.suffix(3)) == [.read(frames), .wrote(written[0]), .wrote(written[1])])
    }

    /// A line that takes no bytes is told once, and again after it has taken what waited.
    @Test func framesThatAreDroppedAreTold() throws {
        let bench = try PortsBench({ $0.radio = try PortsBench.configuration([.dialect: "serial"]) })
        let lines = [PortsBench.Line(.board), PortsBench.Line(.board)]
        let ports = [bench.open("/dev/ttyUSB0", lines[0]), bench.open("/dev/ttyUSB1", lines[1])]
        _ = bench.takeNotices()
        for line in lines { line.capacity = 0 }
        func fill(_ port: RadioPort) {
            for _ in 0..<400 { bench.ports.send([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], on: port.link) }
            bench.ports.endAnswers(at: bench.now)
        }
        fill(ports[0])
        fill(ports[0])
        #expect(bench.takeNotices() == [.cannotSend(path: "/dev/ttyUSB0")])
        fill(ports[1])
        #expect(bench.takeNotices() == [.cannotSend(path: "/dev/ttyUSB1")])
        lines[0].capacity = .max
        bench.ports.flush(ports[0], at: bench.now)
        lines[0].capacity = 0
        fill(ports[0])
        fill(ports[1])
        #expect(bench.takeNotices() == [.cannotSend(path: "/dev/ttyUSB0")])
        // A closed port drops frames without a notice.
        ports[1].connection = nil
        fill(ports[1])
        #expect(bench.takeNotices() == [])
    }

    /// Nothing is kept for a line while none is open.
    @Test func framesWithoutALineAreNotKept() throws {
        let bench = try PortsBench()
        let port = bench.ports.add("/dev/ttyUSB0")
        port.modem = RadioModem(ModemConfiguration(dialect: .serial), kind: .board, at: Instant(microseconds: 0))
        for _ in 0..<1000 where port.queue([1, 2, 3, 4, 5, 6, 7]) { Issue.record("A frame is dropped where no line is open.") }
        let line = PortsBench.Line(.board)
        port.connection = line
        let isWaiting = port.flush { _ in }
        #expect(isWaiting == false && line.written.isEmpty)
    }

    /// The figures of a port in each of its states.
    @Test func aPortIsShownAsWhatIsAtIt() throws {
        let named = { (text: String) in try PortsBench.configuration([.dialect: text]) }
        func shown(_ radio: RadioConfiguration, _ bytes: [UInt8] = []) throws -> RadioFigures? {
            let bench = try PortsBench({ $0.radio = radio })
            let line = PortsBench.Line(.remote)
            let port = bench.open("/dev/pts/900", line)
            for _ in 0..<40 where port.modem?.condition == .detecting && !bytes.isEmpty {
                try bench.receive(bytes, at: port, line)
                try bench.passToDeadline()
            }
            return bench.ports.figures.first
        }
        let nmea = Array("$GPGGA,1,2,3\r\n$GPRMC,1,2,3\r\n$GPGSV,1,2,3\r\n".utf8)
        let cases: [(RadioFigures?, RadioFigures.State, String?)] = [
            (try shown(RadioConfiguration()), .detecting, nil), (try shown(try named("serial")), .open, "serial"),
            (try shown(try named("kiss")), .unset, "kiss"), (try shown(RadioConfiguration(), nmea), .stranger, nil),
        ]
        for (figures, state, dialect) in cases {
            #expect(figures == RadioFigures(port: "/dev/pts/900", state: state, dialect: dialect))
        }
    }
}
