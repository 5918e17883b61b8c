import CollarARQ
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials
import Testing

@testable import CollarControl

/// Figures of which some are missing or wrong: the others count all the same.
@Suite final class PartOfFiguresTests {
    private let stateDirectory = "/tmp/collar-link-part-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: stateDirectory, withIntermediateDirectories: true) }

    deinit {
        do { try FileManager.default.removeItem(atPath: stateDirectory) } catch {}
    }

    /// The missing fixes of a collar, in whose journal two are missing.
    private func missing(_ figures: ReceiverFigures?) throws -> [Substring] {
        let journal = try Journal.open(stateDirectory: stateDirectory, deviceID: 0xA, receiverID: 9, nowUnixMilliseconds: 1)
        for sequence in [0, 3] as [UInt32] {
            let fix = Fix(sequence: sequence, unixMilliseconds: 1_700_000_000_000, latitudeSteps: 1, longitudeSteps: 2)
            _ = try journal.append(JournaledFix(logID: 1, receivedUnixMilliseconds: 1_700_000_000_000, signal: nil, fix: fix))
        }
        try journal.commit()
        var report = MetricsReport(unixMilliseconds: 1_700_000_000_000, animals: DeploymentTable([]), figures: figures)
        try report.add(try JournalReader(stateDirectory: stateDirectory, deviceID: 0xA))
        return String(decoding: report.bytes, as: UTF8.self).split(separator: "\n")
            .filter { $0.hasPrefix("collar_link_collar_missing_fixes{") }.map { $0.drop { $0 != " " } }
    }

    private func figures(_ collar: DeviceID, _ values: [CollarFigure: Int64]) -> ReceiverFigures {
        var figures = ReceiverFigures()
        figures.collars[collar] = values
        return figures
    }

    @Test func whatTheReceiverDoesNotTellIsReadFromTheJournal() throws {
        #expect(try missing(nil) == [" 2"])
        #expect(try missing(figures(0xA, [.heard: 1])) == [" 2"])
        #expect(try missing(figures(0xB, [.missing: 7])) == [" 2"])
        #expect(try missing(figures(0xA, [.missing: 0])) == [" 0"], "the receiver has stored them since")
    }

    @Test func figuresWithoutCollarsAreFigures() {
        let line = #"{"type":"figures","uptime_ms":1,"errors":{"x":2},"radios":[{"port":"b","state":"open"}]}"#
        var expected = ReceiverFigures()
        expected.values = [.uptime: 1]
        expected.errorCounts = ["x": 2]
        expected.radios = [RadioFigures(port: "b", state: .open)]
        #expect(ReceiverFigures(line: line.utf8) == expected)
    }

    @Test(arguments: ["-1", "1.5", "9007199254740993", "\"1\"", "null"]) func aNumberThatIsNoFigureIsUnknown(number: String) {
        let line = """
            {"type":"figures","lines":\(number),"frames":3,"errors":{"x":\(number),"y":4},"collars":[{"collar":"000000000000000a",\
            "boots":\(number),"missing":5},{"collar":"000000000000000b","missing":6}]}
            """
        let figures = ReceiverFigures(line: line.utf8)
        #expect(figures?.values == [.frames: 3])
        #expect(figures?.errorCounts == ["y": 4])
        #expect(figures?.collars == [0xA: [.missing: 5], 0xB: [.missing: 6]])
    }

    @Test(arguments: [#"{"state":"open"}"#, #"{"port":"a"}"#, #"{"port":5,"state":"open"}"#, #"{"port":"a","state":5}"#, "5"])
    func aRadioWithoutAPortOrAStateIsLeftOut(radio: String) {
        let line = #"{"type":"figures","radios":[\#(radio),{"port":"b","state":"gone","dialect":"kiss"}],"collars":[]}"#
        #expect(ReceiverFigures(line: line.utf8)?.radios == [RadioFigures(port: "b", state: .gone, dialect: "kiss")])
    }

    @Test func theFirstLabelOpensTheBraces() {
        var text = MetricsText()
        text.add(Metric("x", .gauge, "X."), 1, [("a", "1"), ("b", "2"), ("c", "3")])
        text.add(Metric("x", .gauge, "X."), -2)
        #expect(String(decoding: text.bytes, as: UTF8.self).hasSuffix("\ncollar_link_x{a=\"1\",b=\"2\",c=\"3\"} 1\ncollar_link_x -2\n"))
    }
}
