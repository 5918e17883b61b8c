import CollarWire
import Testing

/// Power reports, encoded and decoded again.
@Suite struct PowerReportTests {
    private func decodedReport(_ headerAndPayload: [UInt8]) -> Result<Message, DecodeError> {
        Result { () throws(DecodeError) in try decoded(sealed(headerAndPayload, log: .sample)) }
    }

    /// The header and the payload of a report, without the CRC.
    private func body(of report: PowerReport) throws -> [UInt8] {
        Array(try frame(of: .powerReport(report), log: .sample).dropLast(3))
    }

    @Test func aReportIsWrittenAsSpecified() throws {
        let bytes = try body(of: .sample)
        #expect(
            bytes == [
                0x2F, 0x00, 0x07, 0x00,
                // Mode 3, supply 1, a reserved bit; then the uptime, the next search, failures in a row, the time to a position.
                0x32, 0x00, 0x01, 0x51, 0x80, 0x00, 0x03, 0x84, 0x02, 0x00, 0x53,
                // GNSS, listening, awake; then searches and failures.
                0x00, 0x00, 0x0D, 0x05, 0x00, 0x06, 0x9F, 0x6B, 0x00, 0x12, 0xD6, 0x87, 0x00, 0x01, 0xC8, 0x00, 0x00, 0x1E,
            ])
    }

    @Test func randomReportsComeBack() throws {
        var random = SeededRandom(seed: 0xB0)
        for _ in 0..<20_000 {
            let report = PowerReport(random: &random)
            #expect(try decoded(frame(of: .powerReport(report), log: .sample)) == .powerReport(report))
        }
    }

    @Test func aReportFitsInto51BytesAlsoIfItIsSealed() throws {
        let longest = try frame(of: .powerReport(.highest), log: .sample)
        #expect(longest.count <= 7 + 41)
        var peer = SealingPeer()
        peer.isLong = true
        let sealed = peer.sealed(longest)
        #expect(sealed.count <= Frame.minimumLimitByteCount && peer.opened(sealed) == longest)
        // All reports have the same size.
        for report in [PowerReport(), .sample] { #expect(try frame(of: .powerReport(report), log: .sample).count == longest.count) }
    }

    @Test func whatIsNotKnownAndTheExtremesComeBack() throws {
        for report in [PowerReport(), .highest] {
            #expect(try decoded(frame(of: .powerReport(report), log: .sample)) == .powerReport(report))
        }
        // 65535 means "unknown" on the wire: a longer time is sent as the longest one.
        var slow = PowerReport.sample
        slow.timeToFixTenths = .max
        var sent = slow
        sent.timeToFixTenths = .max - 1
        #expect(try decoded(frame(of: .powerReport(slow), log: .sample)) == .powerReport(sent))
    }

    /// 2^24 − 1 means "none is planned" on the wire, so it cannot be sent as a value.
    @Test(arguments: [0xFF_FFFF, .max] as [UInt32])
    func aWaitOutOfRangeIsNotWritten(_ value: UInt32) {
        var report = PowerReport.sample
        report.secondsToSearch = value
        #expect(throws: EncodeError.field(.counter, value: value)) { try frame(of: .powerReport(report), log: .sample) }
    }

    @Test(arguments: [\.searches, \.failures] as [WritableKeyPath<PowerReport, UInt32> & Sendable])
    func aCountOutOfRangeIsNotWritten(_ field: WritableKeyPath<PowerReport, UInt32> & Sendable) {
        for value in [1 &<< 24, .max] as [UInt32] {
            var report = PowerReport.sample
            report[keyPath: field] = value
            #expect(throws: EncodeError.field(.counter, value: value)) { try frame(of: .powerReport(report), log: .sample) }
        }
    }

    /// The first byte in all of its values: mode, supply and a reserved bit, which is ignored.
    @Test func modesAndSuppliesThatAreNotListedAreRefused() throws {
        var bytes = try body(of: .sample)
        for byte in 0...255 as ClosedRange<UInt8> {
            bytes[4] = byte
            let (mode, supply) = (UInt32(byte &>> 4), UInt32(byte &>> 1 & 7))
            var expected = PowerReport.sample
            expected.mode = PowerReport.Mode(rawValue: byte &>> 4) ?? .stopped
            expected.supply = PowerReport.Supply(rawValue: byte &>> 1 & 7) ?? .off
            let result: Result<Message, DecodeError> =
                mode > 5 ? .failure(.invalidField(.mode, code: mode))
                : supply > 5 ? .failure(.invalidField(.supply, code: supply)) : .success(.powerReport(expected))
            #expect(decodedReport(bytes) == result)
        }
    }

    @Test func bytesAfterTheLastFieldAreIgnoredAndMissingOnesAreNot() throws {
        let bytes = try body(of: .sample)
        for count in 0...246 - (bytes.count - 4) {
            #expect(decodedReport(bytes + [UInt8](repeating: 0xFF, count: count)) == .success(.powerReport(.sample)))
        }
        for count in 4..<bytes.count {
            guard case .failure(.truncated) = decodedReport(Array(bytes.prefix(count))) else {
                Issue.record("\(count) bytes of \(bytes.count) are a report")
                continue
            }
        }
    }
}

extension PowerReport {
    /// The highest value of every field.
    fileprivate static var highest: PowerReport {
        var report = PowerReport()
        report.mode = .find
        report.supply = .tracking
        report.uptimeSeconds = .max
        report.secondsToSearch = 0xFF_FFFE
        report.failuresInRow = .max
        report.timeToFixTenths = 0xFFFE
        report.gnssSeconds = .max
        report.listeningMilliseconds = .max
        report.awakeMilliseconds = .max
        report.searches = 0xFF_FFFF
        report.failures = 0xFF_FFFF
        return report
    }

    fileprivate init(random: inout SeededRandom) {
        self.init()
        mode = Mode(rawValue: UInt8(random.below(6))) ?? .stopped
        supply = Supply(rawValue: UInt8(random.below(6))) ?? .off
        uptimeSeconds = random.anyLength()
        secondsToSearch = random.oneIn(3) ? nil : random.edgy(in: 0...0xFF_FFFE, edges: [])
        failuresInRow = random.byte()
        timeToFixTenths = random.oneIn(3) ? nil : random.edgy(in: 0...0xFFFE, edges: [])
        gnssSeconds = random.anyLength()
        listeningMilliseconds = random.anyLength()
        awakeMilliseconds = random.anyLength()
        searches = random.edgy(in: 0...0xFF_FFFF, edges: [])
        failures = random.edgy(in: 0...0xFF_FFFF, edges: [])
    }
}
