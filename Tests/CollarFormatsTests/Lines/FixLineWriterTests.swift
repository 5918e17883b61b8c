@testable import CollarFormats
import CollarLink
import CollarWire
import FoundationEssentials
import Testing

@Suite("Fix lines")
struct FixLineWriterTests {
    @Test("A line as it is described")
    func example() {
        #expect(
            line(received()) == #"""
                {"type":"fix","id":"01234567-89ab-8cde-bcbc-614e0000002a","ts_unix_ms":1699401234567,"source":"collar","coordinate":{"latitude":37.7749,"longitude":-122.4194},"alt_m":10,"h_accuracy_m":5.268,"v_accuracy_m":-1,"speed_mps":0.5,"course_deg":180,"heading_deg":null,"battery_pct":85,"seq":42,"collar":"0123456789abcdef","log":12345678,"rx_unix_ms":1699401239999}

                """#)
    }

    @Test("The compact flavour")
    func compact() {
        var value = received()
        value.signal = RadioSignal(strengthDBm: -107, signalToNoiseTenthsDB: -5)
        #expect(
            line(value, flavour: .compact) == #"""
                {"type":"fix","ts_unix_ms":1699401234567,"source":"collar","lat":37.7749,"lon":-122.4194,"alt_m":10,"h_accuracy_m":5.268,"v_accuracy_m":-1,"speed_mps":0.5,"course_deg":180,"heading_deg":null,"battery_pct":85,"seq":42,"collar":"0123456789abcdef","log":12345678,"rx_unix_ms":1699401239999,"rssi_dbm":-107,"snr_db":-0.5}

                """#)
    }

    @Test("Unknown values are null or -1, never an invented 0")
    func unknowns() {
        let fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        let text = line(ReceivedFix(deviceID: 0, logID: 0, receivedUnixMilliseconds: 0, fix: fix))
        #expect(
            text.contains(
                #""alt_m":null,"h_accuracy_m":-1,"v_accuracy_m":-1,"speed_mps":-1,"course_deg":-1,"heading_deg":null,"battery_pct":-1,"seq":0,"collar":"0000000000000000","log":0,"rx_unix_ms":0}"#
            ))
        #expect(text.contains(#"{"latitude":0,"longitude":0}"#))
    }

    @Test("Signals with and without a ratio")
    func signals() {
        var value = received()
        value.signal = RadioSignal(strengthDBm: .min)
        #expect(line(value).hasSuffix(#","rssi_dbm":-32768}"# + "\n"))
        value.signal = RadioSignal(strengthDBm: 3, signalToNoiseTenthsDB: 120)
        #expect(line(value).hasSuffix(#","rssi_dbm":3,"snr_db":12}"# + "\n"))
    }

    @Test("Every source, and another one in its place")
    func sources() {
        for (source, name) in [(FixSource.watchOS, "watchOS"), (.iOS, "iOS"), (.collar, "collar")] {
            var value = received()
            value.fix.source = source
            #expect(line(value).contains("\"source\":\"\(name)\","))
            #expect(line(received(), sourceAs: source).contains("\"source\":\"\(name)\","))
        }
    }

    @Test("Lines are appended, and each collar keeps its own texts")
    func severalCollars() {
        var writer = FixLineWriter()
        var bytes = Array("x".utf8)
        var expected = "x"
        // More collars than the writer remembers, in turn and several times each.
        for round in 0..<3 {
            for device in 0..<100 as Range<UInt64> {
                var value = received()
                value.deviceID = DeviceID(rawValue: device << 60 | device)
                value.logID = LogID(lowBitsOf: UInt32(round / 2) + 7)
                writer.append(value, to: &bytes)
                expected += line(value)
            }
        }
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    @Test("The longest line")
    func longest() {
        let fix = Fix(
            sequence: Fix.maximumSequence, unixMilliseconds: Fix.timeRange.lowerBound, source: .watchOS,
            positionStep: .e7, latitudeSteps: -891_234_567, longitudeSteps: -1_791_234_567, altitudeStep: .decimeter,
            altitudeSteps: -8_388_608, horizontalAccuracy: AccuracyCode(rawValue: 126),
            verticalAccuracy: AccuracyCode(rawValue: 126), speedDecimetersPerSecond: 1_048_575,
            course: AngleCode(steps: 179), heading: AngleCode(steps: 179), batteryPercent: 100)
        let text = line(
            ReceivedFix(
                deviceID: 0xFFFF_FFFF_FFFF_FFFF, logID: .max, receivedUnixMilliseconds: .min, fix: fix,
                signal: RadioSignal(strengthDBm: .min, signalToNoiseTenthsDB: -32_767)))
        #expect(text.contains(#""latitude":-89.1234567,"longitude":-179.1234567},"alt_m":-838860.8,"h_accuracy_m":2195.198"#))
        #expect(text.hasSuffix(#""rx_unix_ms":-9223372036854775808,"rssi_dbm":-32768,"snr_db":-3276.7}"# + "\n"))
    }

    @Test("Every line read by JSONDecoder and by our reader is the fix", arguments: FixLineWriter.Flavour.allCases)
    func roundTrip(flavour: FixLineWriter.Flavour) throws {
        for seed in 0..<500 {
            let value = ReceivedFix(
                deviceID: DeviceID(rawValue: .random(in: 0 ... .max)), logID: LogID(lowBitsOf: .random(in: 0 ... .max)),
                receivedUnixMilliseconds: .random(in: 0...4_000_000_000_000), fix: randomFix(UInt32(seed)))
            let text = line(value, flavour: flavour)
            let decoded = try JSONDecoder().decode(LocationFix.self, from: Data(text.utf8))
            let read = try TrackLineReader().fix(fromLine: text.utf8, lineNumber: 1)
            let identifier = FixIdentifier(deviceID: value.deviceID, logID: value.logID, sequence: value.fix.sequence)
            let id = flavour == .full ? identifier.uuid : decoded.id
            #expect(decoded == LocationFix(id: id, fix: value.fix), "\(text)")
            #expect(read == LocationFix(id: flavour == .full ? id : read.id, fix: value.fix), "\(text)")
            let again = try Fix(
                quantizing: read, positionStep: value.fix.positionStep, altitudeStep: value.fix.altitudeStep)
            #expect(again == value.fix, "\(text)")
        }
    }

    @Test("Accuracies and angles, every code")
    func everyCode() throws {
        for code in 0...AccuracyCode.top {
            var value = received()
            value.fix.horizontalAccuracy = AccuracyCode(rawValue: code)
            value.fix.verticalAccuracy = AccuracyCode(rawValue: code)
            value.fix.course = AngleCode(steps: code)
            value.fix.heading = AngleCode(steps: 179 - code)
            let fix = try TrackLineReader().fix(fromLine: line(value).utf8, lineNumber: 1)
            #expect(try Fix(quantizing: fix, positionStep: .e5) == value.fix)
        }
    }
}

private func randomFix(_ sequence: UInt32) -> Fix {
    let step = [PositionStep.e5, .e6, .e7].randomElement() ?? .e5
    let quarter = step.stepsPerQuarterTurn
    func sometimes<Value>(_ value: Value) -> Value? { Bool.random() ? value : nil }
    return Fix(
        sequence: sequence, unixMilliseconds: .random(in: Fix.timeRange),
        source: [.watchOS, .iOS, .collar].randomElement() ?? .collar, positionStep: step,
        latitudeSteps: .random(in: -quarter...quarter), longitudeSteps: .random(in: -2 * quarter...2 * quarter),
        altitudeStep: Bool.random() ? .meter : .decimeter,
        altitudeSteps: sometimes(.random(in: Fix.altitudeStepsRange)),
        horizontalAccuracy: sometimes(AccuracyCode(nearestToMillimeters: .random(in: 0...3_000_000))),
        verticalAccuracy: sometimes(AccuracyCode(nearestToMillimeters: .random(in: 0...300))),
        speedDecimetersPerSecond: sometimes(.random(in: 0...Fix.maximumSpeedDecimetersPerSecond)),
        course: AngleCode(steps: .random(in: 0...220)), heading: AngleCode(steps: .random(in: 0...220)),
        batteryPercent: sometimes(.random(in: 0...100)))
}

/// The fix of the examples.
func received() -> ReceivedFix {
    ReceivedFix(
        deviceID: 0x0123_4567_89AB_CDEF, logID: 12_345_678, receivedUnixMilliseconds: 1_699_401_239_999,
        fix: Fix(
            sequence: 42, unixMilliseconds: 1_699_401_234_567, latitudeSteps: 3_777_490, longitudeSteps: -12_241_940,
            altitudeSteps: 10, horizontalAccuracy: AccuracyCode(rawValue: 56), speedDecimetersPerSecond: 5,
            course: AngleCode(steps: 90), batteryPercent: 85))
}

/// One line as text.
func line(_ value: ReceivedFix, flavour: FixLineWriter.Flavour = .full, sourceAs: FixSource? = nil) -> String {
    var writer = FixLineWriter(flavour: flavour, sourceAs: sourceAs)
    var bytes: [UInt8] = []
    writer.append(value, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
}
