import CollarFirmware
import CollarWire

/// Reads any bytes as NMEA sentences.
public final class NMEATarget: FuzzTarget {
    public let name = "gnss-nmea"
    public let meaning = "any bytes of a GNSS receiver: one event a valid sentence, values in range, and a position after any bytes"
    public let contextByteCount = 0
    public let maximumByteCount = GNSSInput.maximumByteCount
    /// A moment whose time no other sentence has.
    private let moment: [UInt8]
    private let reading: GNSSEvent

    /// Creates the target.
    public init() {
        moment =
            NMEAModel.sentence("GPRMC,235958.987,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W")
            + NMEAModel.sentence("GPGGA,235958.987,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,")
            + NMEAModel.sentence("GPGST,235958.987,2,,,,3,4,5")
        reading = .reading(
            GNSSReading(
                unixMilliseconds: 764_467_198_987, latitudeE7: 481_173_000, longitudeE7: 115_166_667, altitudeMillimeters: 545_400,
                horizontalAccuracyMillimeters: 5000, verticalAccuracyMillimeters: 5000, speedMillimetersPerSecond: 11_524,
                courseCentidegrees: 8440))
    }

    public func seeds(from vector: SeedVector) -> [[UInt8]] { GNSSInput.seeds(.nmea, from: vector) }

    public func makeInput(_ execution: UInt64, seed: UInt64, into input: inout [UInt8]) -> Bool {
        GNSSInput.make(.nmea, seed: seed &+ execution &* 0xD134_2543_DE82_EF95, into: &input)
        return true
    }

    public func run(_ input: Span<UInt8>) -> Outcome {
        let bytes = input.indices.map { input[$0] }
        var parser = NMEAParser()
        let events = read(bytes, &parser)
        let expected = NMEAModel.sentences(bytes).count
        guard events.count == expected else { return .wrong("\(events.count) events of \(expected) valid sentences") }
        var hasReading = false
        for event in events {
            guard case .reading(let reading) = event else { continue }
            hasReading = true
            guard isInRange(reading) else { return .wrong("out of range: \(reading)") }
        }
        guard read(moment, &parser).last == reading else { return .wrong("a moment after these bytes is not read") }
        return hasReading ? .accepted : events.isEmpty ? .refused : .behindCRC
    }

    public func describe(_ input: [UInt8]) -> InputDescription { GNSSInput.describe(input) }

    private func read(_ bytes: [UInt8], _ parser: inout NMEAParser) -> [GNSSEvent] {
        var events: [GNSSEvent] = []
        for byte in bytes {
            parser.append(byte)
            while let event = parser.next() {
                if case .satellites = event { continue }
                events.append(event)
            }
        }
        return events
    }

    private func isInRange(_ reading: GNSSReading) -> Bool {
        // The years 1980 to 2079.
        (315_532_800_000..<3_471_292_800_001).contains(reading.unixMilliseconds) && reading.latitudeE7.magnitude <= 900_000_000
            && reading.longitudeE7.magnitude <= 1_810_000_000 && reading.courseCentidegrees ?? 0 <= 36_000
            && reading.speedMillimetersPerSecond ?? 0 <= 514_444_444
            && reading.horizontalAccuracyMillimeters != 0 && reading.verticalAccuracyMillimeters != 0
    }
}
