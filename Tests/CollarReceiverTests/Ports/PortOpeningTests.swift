import CollarARQ
import CollarConfiguration
import CollarHost
import CollarPorts
import RadioModems
import Testing

@testable import CollarReceiver

/// The start of a modem at an opened line: the options for its stick, and what the receiver remembers of the stick.
@Suite struct PortOpeningTests {
    private static let remote = "tcp://10.0.0.1:7000"

    /// The opening of a line.
    private func opening(
        _ path: String = "/dev/ttyUSB0", _ line: PortsBench.Line = PortsBench.Line(.board), _ device: SerialDevice? = PortsBench.device(),
        files: [String: String] = [:], _ radio: RadioConfiguration = RadioConfiguration()
    ) throws -> PortOpening {
        let bench = try PortsBench(files: files, { $0.radio = radio })
        _ = bench.open(path, line, device)
        let openings = try bench.openings()
        try #require(openings.count == 1)
        return try #require(openings.first)
    }

    private static let sections = """
        dialect = serial
        [stick serial=A1]
        dialect = kiss
        [stick id-path=pci-1]
        dialect = rnode
        [stick path=/dev/ttyUSB0]
        dialect = rui3
        """

    /// udev does not know a pseudo-terminal, so the stick at it is recognised by its path alone.
    @Test func aSectionIsFoundByWhatIsKnownOfTheStick() throws {
        let radio = try PortsBench.configuration([:], Self.sections)
        func dialect(_ kind: RadioModem.PortKind, _ device: SerialDevice?, path: String = "/dev/ttyUSB0") throws -> Dialect? {
            try opening(path, PortsBench.Line(kind), device, radio).modem.dialect
        }
        let cases: [Dialect?] = [
            try dialect(.board, PortsBench.device()), try dialect(.board, PortsBench.device(["ID_SERIAL_SHORT": "B2"])),
            try dialect(.board, PortsBench.device(["ID_SERIAL_SHORT": "B2", "ID_PATH": nil])), try dialect(.board, nil),
            try dialect(.board, PortsBench.device(["ID_SERIAL_SHORT": "B2", "ID_PATH": nil]), path: "/dev/ttyUSB1"),
            try dialect(.remote, PortsBench.device()), try dialect(.remote, PortsBench.device(), path: "/dev/pts/3"),
            try dialect(.network, nil, path: Self.remote),
        ]
        #expect(cases == [.kiss, .rnode, .rui3, .rui3, .rui3, .rui3, .serial, .serial])
    }

    /// A section may name a link to the port.
    @Test func theNodeOfTheDeviceIsComparedWithTheLinkOfASection() throws {
        let radio = try PortsBench.configuration([:], "[stick path=/dev/null]\ndialect = kiss\n")
        #expect(try opening("/dev/elsewhere", PortsBench.Line(.board), PortsBench.device(node: "/dev/null"), radio).modem.dialect == .kiss)
        #expect(try opening("/dev/elsewhere", PortsBench.Line(.board), PortsBench.device(node: "/dev/full"), radio).modem.dialect == nil)
    }

    /// A stick with this project's firmware gets no questions. An option of the user takes precedence.
    @Test func theFirmwareOfAStickTellsItsDialect() throws {
        let stick = PortsBench.device(["ID_MODEL": "CollarLink_base"])
        let named = try PortsBench.configuration([.dialect: "kiss"])
        #expect(try opening("/dev/ttyUSB0", PortsBench.Line(.board), stick).modem.dialect == .serial)
        #expect(try opening("/dev/ttyUSB0", PortsBench.Line(.board), stick, named).modem.dialect == .kiss)
        #expect(try opening("/dev/ttyUSB0", PortsBench.Line(.remote), stick).modem.dialect == nil)
        #expect(try opening().modem.dialect == nil)
    }

    /// The name of a stick is that of its device; a radio at another machine has the name of its address, and a pseudo-terminal none.
    @Test func theDialectFromBeforeIsThatOfTheSameStick() throws {
        let sticks = "kiss usb 10c4 ea60 A1\nrnode \(Self.remote)\nserial /dev/ttyUSB0\nrui3 socket pci-1\n"
        func remembered(_ path: String, _ kind: RadioModem.PortKind, _ device: SerialDevice?) throws -> Dialect? {
            try opening(path, PortsBench.Line(kind), device, files: ["sticks": sticks]).remembered
        }
        #expect(try remembered("/dev/ttyUSB0", .board, PortsBench.device()) == .kiss)
        #expect(try remembered("/dev/ttyUSB0", .board, PortsBench.device(["ID_SERIAL_SHORT": nil])) == .rui3)
        #expect(try remembered("/dev/ttyUSB0", .board, nil) == nil)
        #expect(try remembered("/dev/ttyUSB0", .remote, PortsBench.device()) == nil)
        #expect(try remembered(Self.remote, .network, nil) == .rnode)
        #expect(try remembered("tcp://10.0.0.1:7001", .network, nil) == nil)
    }

    @Test func aRadioIsRestedIfNothingWasSentInTheLastHour() throws {
        let start = RecordedDay.start.unixMilliseconds
        let cases: [(String?, Bool)] = [(nil, true), ("\(start - 4_200_001)\n", true), ("\(start - 60_000)\n", false), ("never\n", false)]
        for (text, isRested) in cases {
            #expect(try opening(files: text.map { ["airtime": $0] } ?? [:]).isRested == isRested, "\(text ?? "no file")")
        }
    }

    /// The whole of an opening over a network.
    @Test func theRoundTripAndTheSettingsAreThoseOfTheLine() throws {
        let radio = try PortsBench.configuration([.dialect: "rui3", .region: "eu868"])
        var expected = PortOpening(report: .now, kind: .network)
        expected.modem = radio.modem(path: Self.remote, serialNumber: nil, idPath: nil, node: nil)
        expected.isRested = true
        expected.roundTripMicroseconds = 70_000
        try #require(expected.modem.settings != nil && expected.modem.limits != nil)
        #expect(try opening(Self.remote, PortsBench.Line(.network, roundTripMicroseconds: 70_000), nil, radio) == expected)
    }

    /// The modem is set up once more at an open line: the link of the host is closed between the two.
    @Test func aSecondModemEndsTheFirst() throws {
        let bench = try PortsBench({ $0.radio = try PortsBench.configuration([.dialect: "serial"]) })
        let line = PortsBench.Line(.board)
        let port = bench.open("/dev/ttyUSB0", line)
        let frames = RecordedDay.serialBytes(of: [try RecordedCollar().identity(next: 1), try RecordedCollar().fix(0)])
        try bench.receive(Array(frames.dropLast(5)), at: port, line)
        bench.ports.beginModem(of: port, report: .none, at: bench.now)
        // The rest of a frame that began before the setup is no frame.
        try bench.receive(Array(frames.suffix(5)), at: port, line)
        #expect(bench.host.statistics.fixes == 0)
        try bench.receive(frames, at: port, line)
        #expect(bench.host.statistics.fixes == 1)
        let marks = try bench.records().map { record in
            switch record.event {
            case .opened(let opening): "opened \(opening.report)"
            case .closed: "closed"
            case .found(let dialect): "found \(dialect)"
            case .read: "read"
            default: "other"
            }
        }.filter { $0 != "other" }
        #expect(marks == ["opened now", "found serial", "read", "closed", "opened none", "found serial", "read", "read"])
        #expect(line.closeCount == 0)
    }

    /// The notice of a silent line says whether an option has named the dialect, not the firmware or the detection.
    @Test func silenceIsToldWithWhatAPersonHasNamed() throws {
        let named = try PortsBench.configuration([.dialect: "serial"])
        let firmware = PortsBench.device(["ID_MODEL": "CollarLink_base"])
        for (device, radio, isNamed) in [
            (PortsBench.device(), named, true), (firmware, named, true), (firmware, RadioConfiguration(), false),
        ] as [(SerialDevice, RadioConfiguration, Bool)] {
            let bench = try PortsBench({ $0.radio = radio })
            _ = bench.open("/dev/ttyUSB0", PortsBench.Line(.board), device)
            var notices: [HostNotice] = []
            while notices.isEmpty, let due = bench.host.nextDeadline {
                bench.pass(milliseconds: max(0, due.microseconds(since: bench.now.instant) + 999) / 1000)
                bench.host.deadlineReached(at: bench.now)
                bench.host.moveNotices(to: &notices)
            }
            guard case .link("/dev/ttyUSB0", .noIdentity(_, let isLineNamed))? = notices.first else {
                Issue.record("\(notices)")
                continue
            }
            #expect(isLineNamed == isNamed)
        }
    }
}
