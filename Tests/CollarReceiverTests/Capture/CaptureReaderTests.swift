import CollarARQ
import CollarHost
import CollarJournal
import RadioModems
import Testing

@testable import CollarReceiver

/// The bytes of captures. `Protocol/CAPTURE.md` says what they are; the end-to-end tests read captures with other programs.
@Suite struct CaptureReaderTests {
    private static let start = HostTime(instant: Instant(microseconds: 5_000_000), unixMilliseconds: 1_700_000_000_123)

    private static func record(
        _ event: CaptureEvent, port: String = "/dev/ttyUSB0", after microseconds: Int64 = 0, clockStep: Int64 = 0, round: UInt16 = 0
    ) -> CaptureRecord {
        let time = HostTime(
            instant: start.instant.advanced(byMicroseconds: microseconds),
            unixMilliseconds: start.unixMilliseconds + microseconds / 1000 + clockStep)
        return CaptureRecord(time: time, round: round, port: port, event: event)
    }

    private static func encode(_ records: [CaptureRecord]) -> [UInt8] {
        var encoder = CaptureEncoder(at: start)
        return encoder.start() + records.flatMap { encoder.encode($0) }
    }

    private static func read(_ bytes: [UInt8], chunk: Int = .max) throws -> [CaptureRecord] {
        var reader = CaptureReader()
        var records: [CaptureRecord] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.append(Array(rest.prefix(chunk)))
            rest = rest.dropFirst(chunk)
            while let record = try reader.next() { records.append(record) }
        }
        try reader.finish()
        return records
    }

    private static func hexadecimal(_ text: String) -> [UInt8] {
        text.split(separator: " ").flatMap { word in
            stride(from: 0, to: word.count, by: 2).map { index in
                let first = word.index(word.startIndex, offsetBy: index)
                return UInt8(word[first...word.index(after: first)], radix: 16) ?? 0
            }
        }
    }

    /// The events of a session, one of each kind.
    private static let events: [CaptureEvent] = [
        .began(receiverID: 0xDEAD_BEEF), .plugged(device: "/dev/ttyUSB0  CP2102"), .opened(PortOpening(kind: .board)), .found(.serial),
        .read([0, 1, 2, 3, 4]), .wrote([0xFF]), .closed, .unplugged, .removed, .due, .ended,
    ]

    /// Every byte of a capture of two records.
    @Test func bytes() {
        let bytes = Self.encode([
            Self.record(.read([0xAA, 0xBB, 0xCC]), after: 1, round: 0x0102), Self.record(.unplugged, after: 2_000_001),
        ])
        let comment = "The bytes of collar radios' ports, positions included"
        var expected = Self.hexadecimal("0a0d0d0a 6c000000 4d3c2b1a 0100 0000 ffffffffffffffff 0100 3500")
        expected += Array(comment.utf8) + Self.hexadecimal("000000 0400 0b00") + Array("collar-link".utf8)
        expected += Self.hexadecimal("00 00000000 6c000000")
        expected += Self.hexadecimal("01000000 30000000 9600 0000 00000000 0200 0c00") + Array("/dev/ttyUSB0".utf8)
        expected += Self.hexadecimal("0900 0100 06000000 00000000 30000000")
        // 1,700,000,000,123,001 µs are 0x00060a2418202079; 1,700,000,000,123 ms are 0x18bcfe5687b.
        expected += Self.hexadecimal("06000000 3c000000 00000000 240a0600 79202018 0f000000 0f000000")
        expected += Self.hexadecimal("01 02 0102 0000018bcfe5687b aabbcc 00 0200 0400 01000000 00000000 3c000000")
        expected += Self.hexadecimal("06000000 2c000000 00000000 240a0600 f9a43e18 0c000000 0c000000")
        expected += Self.hexadecimal("01 05 0000 0000018bcfe5704b 2c000000")
        #expect(bytes == expected)
    }

    @Test(arguments: [1, 7, 4096, Int.max])
    func whatIsWrittenIsRead(chunk: Int) throws {
        let records = Self.events.enumerated().map { index, event in
            Self.record(event, port: index % 2 == 0 ? "/dev/ttyUSB0" : "tcp://a:1", after: Int64(index * 1500), round: UInt16(index))
        }
        let read = try Self.read(Self.encode(records), chunk: chunk)
        #expect(read.map(\.event) == records.map(\.event))
        #expect(read.map(\.port) == records.map(\.port))
        #expect(read.map(\.round) == records.map(\.round))
        #expect(read.map(\.time.unixMilliseconds) == records.map(\.time.unixMilliseconds))
        let instants = read.map { $0.time.instant.microseconds(since: read[0].time.instant) }
        #expect(instants == records.indices.map { Int64($0 * 1500) })
    }

    @Test func aClockThatIsSetBackDoesNotMoveTheInstants() throws {
        let read = try Self.read(Self.encode([
            Self.record(.read([1])), Self.record(.read([2]), after: 10_000, clockStep: -3_600_000),
        ]))
        #expect(read[1].time.unixMilliseconds - read[0].time.unixMilliseconds == 10 - 3_600_000)
        #expect(read[1].time.instant.microseconds(since: read[0].time.instant) == 10_000)
    }

    @Test func openings() throws {
        var opening = PortOpening(report: .firstBytes, kind: .remote)
        opening.modem = ModemConfiguration(
            dialect: .rnode,
            settings: RadioSettings(
                frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 9, codingRateDenominator: 5, powerDBm: -3),
            limits: TransmitLimits(dutyCyclePartsPerMillion: 100_000, dwellMicroseconds: 400_000),
            region: Region.named("AS923"))
        opening.remembered = .kiss
        opening.isRested = true
        opening.roundTripMicroseconds = 1234
        #expect(try Self.read(Self.encode([Self.record(.opened(opening))])).first?.event == .opened(opening))
        opening.modem.limits = TransmitLimits()
        #expect(try Self.read(Self.encode([Self.record(.opened(opening))])).first?.event == .opened(opening))
        for wrong in ["", "kind=other\n", "kind=board\nreport=x\n", "kind=board\nfrequency_hz=868100000\n"] {
            #expect(throws: CaptureFields.Fault.self, "\(wrong)") { try CaptureEvent(.opened, content: Array(wrong.utf8)) }
        }
        #expect(try CaptureEvent(.opened, content: Array("kind=board\nnew=1\n".utf8)) == .opened(PortOpening(kind: .board)))
        #expect(throws: CaptureFields.Fault.self) { try CaptureEvent(.began, content: Array("receiver=x\n".utf8)) }
        #expect(throws: CaptureFields.Fault.self) { try CaptureEvent(.found, content: Array("dialect=x\n".utf8)) }
    }

    /// The same capture as a machine of the other byte order writes it, with nanoseconds.
    @Test func theOtherByteOrder() throws {
        var bytes = Self.hexadecimal("0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c")
        bytes += Self.hexadecimal("00000001 00000028 0096 0000 00000000 0002 0003 61626300 0009 0001 09000000 00000000 00000028")
        // 1,700,000,000,123,001,999 ns are 0x17979cfe3d7edc8f.
        bytes += Self.hexadecimal("00000006 00000030 00000000 17979cfe 3d7edc8f 0000000d 0000000d")
        bytes += Self.hexadecimal("01 02 0007 0000018bcfe5687b aa 000000 00000030")
        let record = try #require(try Self.read(bytes).first)
        #expect(record.port == "abc")
        #expect(record.event == .read([0xAA]))
        #expect(record.round == 7)
        #expect(record.time == HostTime(instant: Instant(microseconds: 1_700_000_000_123_001), unixMilliseconds: 1_700_000_000_123))
    }

    @Test func whatIsUnknownIsSkipped() throws {
        let capture = Self.encode([Self.record(.read([1])), Self.record(.read([2]))])
        var bytes = capture
        // A block of another type, and a packet of an interface with another link type.
        bytes += Self.hexadecimal("05000000 10000000 01020304 10000000")
        bytes += Self.hexadecimal("01000000 14000000 0100 0000 00000000 14000000")
        bytes += Self.hexadecimal("06000000 24000000 01000000 00000000 00000000 04000000 04000000 01020304 24000000")
        #expect(try Self.read(bytes).count == 2)
        // An event with a number that is not known yet.
        var later = capture
        later[later.count - 60 + 29] = 99
        #expect(try Self.read(later).count == 1)
    }

    @Test func aFurtherSectionHasInterfacesOfItsOwn() throws {
        let first = Self.encode([Self.record(.read([1]), port: "a"), Self.record(.read([2]), port: "b")])
        let second = Self.encode([Self.record(.read([3]), port: "c")])
        #expect(try Self.read(first + second).map(\.port) == ["a", "b", "c"])
    }

    /// A capture that is cut anywhere gives the records before the cut.
    @Test func everyCut() throws {
        let records = [Self.record(.read([1, 2, 3])), Self.record(.wrote([4])), Self.record(.unplugged)]
        let whole = Self.encode(records)
        for count in 1..<whole.count {
            var reader = CaptureReader()
            reader.append(Array(whole.prefix(count)))
            var read: [CaptureEvent] = []
            while let record = try reader.next() { read.append(record.event) }
            #expect(read == Array(records.map(\.event).prefix(read.count)))
            #expect(reader.endOfBlocks <= count)
            let isWhole = reader.endOfBlocks == count
            if isWhole { try reader.finish() } else { #expect(throws: CaptureError.self) { try reader.finish() } }
        }
    }

    @Test func whatIsWrongIsSaidWithItsPlace() throws {
        func fault(_ bytes: [UInt8]) -> CaptureError? {
            do { _ = try Self.read(bytes) } catch { return error as? CaptureError }
            return nil
        }
        let good = Self.encode([Self.record(.read([1, 2, 3]))])
        let packet = good.count - 60
        func changed(_ index: Int, to value: UInt8) -> [UInt8] {
            var bytes = good
            bytes[index] = value
            return bytes
        }
        #expect(fault(Array("{\"type\":\"fix\"}\n".utf8)) == CaptureError(problem: .notACapture, offset: 0, kind: .jsonLines))
        #expect(fault([UInt8](repeating: 9, count: 100)) == CaptureError(problem: .notACapture, offset: 0))
        #expect(fault(changed(8, to: 0)) == CaptureError(problem: .notACapture, offset: 0, kind: .capture))
        #expect(fault(changed(packet + 4, to: 61)) == CaptureError(problem: .blockLength(61), offset: packet))
        #expect(fault(changed(good.count - 4, to: 0)) == CaptureError(problem: .blockLength(60), offset: packet))
        #expect(fault(changed(packet + 8, to: 7)) == CaptureError(problem: .unknownInterface(7), offset: packet))
        #expect(fault(changed(packet + 20, to: 200)) == CaptureError(problem: .shortBlock(type: 6), offset: packet))
        #expect(fault(changed(packet + 28, to: 2)) == CaptureError(problem: .version(2), offset: packet))
        #expect(fault(changed(packet + 29, to: 0)) == CaptureError(problem: .content(event: 0), offset: packet))
        #expect(fault(changed(packet - 12, to: 40)) == CaptureError(problem: .timeResolution(40), offset: packet - 48))
        for bytes in [good + [1], Array(good.dropLast())] {
            #expect(fault(bytes)?.problem == .cut)
        }
    }

    /// Damage anywhere gives an error or other records, and never a crash.
    @Test func everyChangedByte() {
        let good = Self.encode(Self.events.map { Self.record($0) })
        for index in good.indices {
            for value in [UInt8(0), 1, 0x7F, 0x80, 0xFF] {
                var bytes = good
                bytes[index] = value
                let records = (try? Self.read(bytes)) ?? []
                #expect(records.count <= Self.events.count)
            }
        }
    }
}
