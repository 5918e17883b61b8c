import CollarARQ
import CollarHost
import CollarJournal
import RadioModems
import Testing

@testable import CollarReceiver

/// The limits of what a capture may hold, and the numbers of its format.
@Suite struct CaptureTableTests {
    private static let settings = "frequency_hz=868100000\nbandwidth_hz=125000\nspreading_factor=9\ncoding_rate=5\npower_dbm=14\n"

    private func opening(_ text: String) -> PortOpening? { try? PortOpening(CaptureFields(Array(text.utf8))) }

    /// Each of the settings is needed, once there is a frequency.
    @Test func settingsAreWholeOrAnError() {
        let lines = Self.settings.split(separator: "\n").map { "\($0)\n" }
        #expect(
            opening("kind=board\n" + Self.settings)?.modem.settings
                == RadioSettings(
                    frequencyHertz: 868_100_000, bandwidthHertz: 125_000, spreadingFactor: 9, codingRateDenominator: 5, powerDBm: 14))
        for index in lines.indices.dropFirst() {
            var some = lines
            some.remove(at: index)
            #expect(opening("kind=board\n" + some.joined()) == nil, "\(lines[index])")
        }
        #expect(opening("kind=board\n" + lines.dropFirst().joined()) == PortOpening(kind: .board))
    }

    private static let values: [(String, isRight: Bool)] = [
        ("round_trip_us=3600000000", true), ("round_trip_us=3600000001", false), ("round_trip_us=-1", false), ("round_trip_us=0", true),
        ("limited=1\nduty_cycle_ppm=1000000", true), ("limited=1\nduty_cycle_ppm=1000001", false), ("limited=1\nduty_cycle_ppm=0", false),
        ("limited=1\ndwell_us=3600000000", true), ("limited=1\ndwell_us=3600000001", false), ("limited=1\ndwell_us=0", true),
        ("report=first-bytes", true), ("report=none", true), ("report=later", false), ("remembered=later", true), ("dialect=later", true),
        (settings.replacing("frequency_hz=868100000", with: "frequency_hz=0"), false),
        (settings.replacing("spreading_factor=9", with: "spreading_factor=99"), false),
        (settings.replacing("coding_rate=5", with: "coding_rate=4"), false),
        (settings.replacing("coding_rate=5", with: "coding_rate=9"), false),
        (settings.replacing("power_dbm=14", with: "power_dbm=128"), false),
        (settings.replacing("power_dbm=14", with: "power_dbm=-128"), true),
    ]

    @Test(arguments: values.indices)
    func aValueOutsideItsRangeIsAnError(index: Int) {
        let (text, isRight) = Self.values[index]
        #expect((opening("kind=board\n\(text)\n") != nil) == isRight)
    }

    /// An option that is left out has the value that older captures imply.
    @Test func whatIsLeftOutHasItsDefault() {
        #expect(opening("kind=network\n") == PortOpening(kind: .network))
        #expect(opening("kind=remote\nlimited=1\n")?.modem.limits == TransmitLimits(dutyCyclePartsPerMillion: nil, dwellMicroseconds: nil))
        #expect(opening("kind=remote\nlimited=0\ndwell_us=5\nrested=0\n") == PortOpening(kind: .remote))
        var rested = PortOpening(report: .firstBytes, kind: .board)
        rested.isRested = true
        rested.remembered = .kiss
        #expect(opening("kind=board\nrested=1\nreport=first-bytes\nremembered=kiss\n") == rested)
    }

    /// A value may hold the sign between key and value.
    @Test func aFieldIsCutAtItsFirstSign() {
        let fields = CaptureFields(Array("a=b=c\n\nnoise\nd=\n=e\na2=\u{FFFD}\n".utf8))
        #expect(["a", "d", "noise", "", "a2"].map { fields.text($0) } == ["b=c", "", nil, "e", "\u{FFFD}"])
    }

    // MARK: Blocks

    private static func encode(_ records: [CaptureRecord], at time: HostTime = RecordedDay.start) -> [UInt8] {
        var encoder = CaptureEncoder(at: time)
        return encoder.start() + records.flatMap { encoder.encode($0) }
    }

    private static func record(_ event: CaptureEvent, port: String = "a", at time: HostTime = RecordedDay.start) -> CaptureRecord {
        CaptureRecord(time: time, port: port, event: event)
    }

    private static func read(_ bytes: [UInt8]) throws -> [CaptureRecord] {
        var reader = CaptureReader()
        reader.append(bytes)
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        try reader.finish()
        return records
    }

    private func fault(_ bytes: [UInt8]) -> CaptureError? {
        do { _ = try Self.read(bytes) } catch { return error as? CaptureError }
        return nil
    }

    /// The block of an interface.
    private static func interface(linkType: UInt16 = CaptureFormat.linkType, _ options: (UInt16, [UInt8])...) -> [UInt8] {
        var body = CaptureBytes()
        body.append(linkType)
        body.append(UInt16(0))
        body.append(UInt32(0))
        for (option, value) in options { body.append(option, value) }
        body.endOptions()
        return body.block(CaptureFormat.Block.interface)
    }

    /// The block of a record of bytes that came in.
    private static func packet(
        interface: UInt32 = 0, units: UInt64, unixMilliseconds: UInt64 = 1_700_000_000_000, version: UInt8 = CaptureFormat.version,
        count: UInt32? = nil, bytes: [UInt8] = [7]
    ) -> [UInt8] {
        var body = CaptureBytes()
        let data = [version, 2, 0, 5] + (0..<8).map { UInt8(truncatingIfNeeded: unixMilliseconds >> (56 - 8 * $0)) } + bytes
        for value in [interface, UInt32(units >> 32), UInt32(truncatingIfNeeded: units), count ?? UInt32(data.count), UInt32(data.count)] {
            body.append(value)
        }
        body.bytes += data
        body.pad()
        return body.block(CaptureFormat.Block.packet)
    }

    private static let section: [UInt8] = {
        var encoder = CaptureEncoder(at: RecordedDay.start)
        return encoder.start()
    }()

    private static let resolutions: [(UInt8, units: UInt64, microseconds: Int64?)] = [
        (0, 3, 3_000_000), (3, 1500, 1_500_000), (6, 1_500_000, 1_500_000), (9, 1_999_999_999, 1_999_999),
        (18, 5_000_000_000_000_000_000, 5_000_000),
        (19, 1, nil), (0x80, 3, 3_000_000), (0x81, 3, 1_500_000), (0x94, 1 << 20, 1_000_000), (0xBE, 1 << 61, 500_000), (0xBF, 1, nil),
        (0xFF, 1, nil),
    ]

    /// Times in any resolution that fits: a power of ten, or of two.
    @Test(arguments: resolutions.indices)
    func timesAreInTheResolutionOfTheirInterface(index: Int) throws {
        let (resolution, units, microseconds) = Self.resolutions[index]
        let bytes = Self.section + Self.interface((CaptureFormat.Option.timeResolution, [resolution])) + Self.packet(units: units)
        guard let microseconds else {
            #expect(fault(bytes)?.problem == .timeResolution(resolution))
            return
        }
        #expect(try Self.read(bytes).map(\.time.instant.microseconds) == [microseconds])
    }

    /// Without an option, times are in microseconds, and the port has the name of its number.
    @Test func anInterfaceWithoutOptionsHasDefaults() throws {
        let foreign = Self.interface(linkType: 1)
        let records = try Self.read(
            Self.section + foreign + Self.interface() + Self.packet(interface: 0, units: 1, version: 9)
                + Self.packet(interface: 1, units: 12))
        #expect(records.map(\.port) == ["port 1"] && records.map(\.time.instant.microseconds) == [12] && records.map(\.round) == [5])
        // Options after the end of the options are none.
        let late = Self.interface((CaptureFormat.Option.name, Array("abcd".utf8)), (CaptureFormat.Option.end, []), (2, Array("z".utf8)))
        #expect(try Self.read(Self.section + late + Self.packet(units: 1)).map(\.port) == ["abcd"])
    }

    @Test func whatCannotBeReadIsAnErrorOfItsBlock() {
        let start = Self.section + Self.interface()
        func problem(_ packet: [UInt8]) -> CaptureError.Problem? {
            let fault = fault(start + packet)
            if let fault, fault.offset != start.count { Issue.record("\(fault)") }
            return fault?.problem
        }
        #expect(problem(Self.packet(interface: 1, units: 1)) == .unknownInterface(1))
        #expect(problem(Self.packet(units: 1, version: 0)) == .version(0))
        #expect(problem(Self.packet(units: 1, count: 11)) == .shortBlock(type: 6))
        #expect(problem(Self.packet(units: 1, count: 12, bytes: [])) == nil)
        #expect(problem(Self.packet(units: 1, count: 17)) == .shortBlock(type: 6))
        #expect(problem(Self.packet(units: 1, unixMilliseconds: 1 << 47)) == .content(event: 2))
        #expect(problem(Self.packet(units: 1, unixMilliseconds: (1 << 47) - 1)) == nil)
        #expect(problem(Self.packet(units: 1, unixMilliseconds: 1 << 62)) == .content(event: 2))
        #expect(problem(Self.packet(units: .max)) == .content(event: 2))
        var short = CaptureBytes()
        short.bytes = [UInt8](repeating: 0, count: 16)
        #expect(problem(short.block(CaptureFormat.Block.packet)) == .shortBlock(type: 6))
        short.bytes = [UInt8](repeating: 0, count: 4)
        #expect(problem(short.block(CaptureFormat.Block.interface)) == .shortBlock(type: 1))
        var long = CaptureBytes()
        long.append(UInt32(5))
        long.append(UInt32(CaptureFormat.blockByteLimit + 4))
        long.append(UInt32(0))
        #expect(problem(long.bytes) == .blockLength(UInt32(CaptureFormat.blockByteLimit + 4)))
    }

    /// A further section, of a run after the clock was set back, does not set the instants back.
    @Test func instantsNeverGoBack() throws {
        let earlier = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: RecordedDay.start.unixMilliseconds - 3_600_000)
        let bytes = Self.encode([Self.record(.read([1]))]) + Self.encode([Self.record(.read([2]), at: earlier)], at: earlier)
        let times = try Self.read(bytes).map(\.time)
        try #require(times.count == 2)
        #expect(times[1].instant == times[0].instant)
        #expect(times[1].unixMilliseconds == earlier.unixMilliseconds)
    }

    /// A section has the byte order that it shows, whatever the one before had.
    @Test func eachSectionHasItsByteOrder() throws {
        let big: [UInt8] =
            [0x0A, 0x0D, 0x0D, 0x0A, 0, 0, 0, 28, 0x1A, 0x2B, 0x3C, 0x4D, 0, 1, 0, 0] + [UInt8](repeating: 0xFF, count: 8) + [0, 0, 0, 28]
        let little = Self.encode([Self.record(.read([1]))])
        #expect(try Self.read(little + big + little).map(\.event) == [.read([1]), .read([1])])
        #expect(try Self.read(big + little).count == 1)
    }

    /// The place of a record, however the bytes come.
    @Test(arguments: [1, 50, 100_000])
    func theOffsetOfARecordIsThatOfItsBlock(chunk: Int) throws {
        let first = Self.encode([Self.record(.read([1]))])
        let records = [Self.record(.read([1])), Self.record(.closed), Self.record(.read([2, 3]))]
        let whole = Self.encode(records)
        var reader = CaptureReader()
        var (offsets, counts): ([Int], [Int]) = ([], [])
        var rest = whole[...]
        while !rest.isEmpty {
            reader.append(Array(rest.prefix(chunk)))
            rest = rest.dropFirst(chunk)
            while try reader.next() != nil {
                offsets.append(reader.recordOffset)
                counts.append(reader.recordCount)
            }
        }
        let second = Self.encode(Array(records.prefix(2))).count
        #expect(offsets == [first.count - 60, first.count, second] && counts == [1, 2, 3])
        #expect(reader.endOfBlocks == whole.count)
    }

    /// Wireshark shows the direction of the bytes; other events have none.
    @Test func bytesHaveTheirDirectionInAnOption() {
        func options(_ event: CaptureEvent) -> [UInt8] {
            var encoder = CaptureEncoder(at: RecordedDay.start)
            let whole = encoder.encode(Self.record(event)) + encoder.encode(Self.record(event))
            return Array(whole.suffix(28).dropLast(4))
        }
        #expect(options(.read([1, 2, 3, 4])).suffix(16) == [1, 2, 3, 4, 2, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(options(.wrote([1, 2, 3, 4])).suffix(16) == [1, 2, 3, 4, 2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0])
    }
}
