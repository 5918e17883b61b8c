import CollarARQ
import CollarConfiguration
import CollarControl
import CollarHost
import CollarJournal
import FoundationEssentials
import Glibc
import RadioModems
import Testing

@testable import CollarReceiver

/// Deadlines of the modems at several open ports. The ports are those of a playback, so nothing answers.
@Suite final class RadioPortsDeadlineTests {
    private enum Stick: Equatable {
        /// A serial line, of which nothing is expected.
        case serial
        /// A stick of unknown dialect.
        case unknown
        /// A stick that a person says to be of a dialect.
        case named(Dialect)
        /// A port that was opened and closed again.
        case closed
    }

    /// The bytes, notices and figures of a run.
    private struct Outcome {
        /// The bytes that each port took, with the milliseconds since the opening.
        var written: [String: [String]] = [:]
        var notices: [ReceiverNotice] = []
        var figures: [RadioFigures] = []
        /// The dialect that the state directory keeps of each port's stick.
        var remembered: [Dialect?] = []
    }

    private var folders: [String] = []

    deinit {
        for folder in folders { do { try FileManager.default.removeItem(atPath: folder) } catch {} }
    }

    /// Opens ports, and does what is due for a time, whenever it is due.
    /// - Parameter bytes: what comes in at each open port after its opening.
    private func run(_ sticks: [Stick], seconds: Int64 = 600, reading bytes: [UInt8] = []) throws -> Outcome {
        let folder = "/tmp/collar-link-ports-\(UUID().uuidString)"
        try #require(unsafe mkdir(folder, 0o700) == 0)
        folders.append(folder)
        var outcome = Outcome()
        let start = RecordedDay.start
        let configuration = ReceiverConfiguration(stateDirectory: folder)
        let host = try Host(
            configuration.host, fileSystem: POSIXFileSystem(stateDirectory: folder), random: SystemRandomNumberGenerator(), at: start)
        let ports = RadioPorts(configuration, events: try ReceiverEvents(urgent: .signals), host: host) { outcome.notices.append($0) }
        let capture = try CaptureFile("\(folder)/capture", receiverID: 1, at: start) { _ in }
        ports.capture = capture
        for (index, stick) in sticks.enumerated() {
            var opening = PortOpening(report: .none, kind: .board)
            switch stick {
            case .serial, .closed: opening.modem.dialect = .serial
            case .named(let dialect):
                opening.modem = ModemConfiguration(
                    dialect: dialect,
                    settings: RadioSettings(
                        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14),
                    limits: TransmitLimits(dutyCyclePartsPerMillion: nil, dwellMicroseconds: nil))
            case .unknown: break
            }
            let port = "/dev/ttyUSB\(index)"
            try ports.play(CaptureRecord(time: start, port: port, event: .opened(opening)), at: start)
            ports.ports[index].stickName = "stick \(index)"
            if !bytes.isEmpty { try ports.play(CaptureRecord(time: start, port: port, event: .read(bytes)), at: start) }
            if stick == .closed { try ports.play(CaptureRecord(time: start, port: port, event: .closed), at: start) }
        }
        var now = start.instant
        let end = now.advanced(byMicroseconds: seconds * 1_000_000)
        while let due = ports.nextDeadline, due <= end {
            try #require(due > now, "what was due is done, and nothing is due again at once")
            now = due
            try ports.deadlineReached(
                at: HostTime(instant: now, unixMilliseconds: start.unixMilliseconds + now.microseconds(since: start.instant) / 1000))
        }
        outcome.figures = ports.figures
        let memory = StickMemory(stateDirectory: folder)
        outcome.remembered = sticks.indices.map { memory.dialect(of: "stick \($0)") }
        var reader = CaptureReader()
        reader.append(Array(try Data(contentsOf: URL(filePath: "\(folder)/capture"))))
        while let record = try reader.next() {
            guard case .wrote(let bytes) = record.event else { continue }
            outcome.written[record.port, default: []].append("\(record.time.instant.microseconds(since: start.instant) / 1000): \(bytes)")
        }
        return outcome
    }

    /// A stick that does not answer is asked for each dialect, and asked again later, until it is taken for a serial line.
    @Test func aSilentStickIsAskedUntilASerialLineIsAssumed() throws {
        let outcome = try run([.unknown])
        #expect(outcome.figures.map(\.state) == [.open])
        #expect(outcome.figures.map(\.dialect) == ["serial"])
        #expect(try #require(outcome.written["/dev/ttyUSB0"]).count > 4)
        #expect(try run([.unknown], seconds: 0).figures.map(\.state) == [.detecting])
    }

    /// An assumed serial line is asked again later, also after a restart, so only one that was heard is remembered.
    @Test func anAssumedSerialLineIsNotRemembered() throws {
        #expect(try run([.unknown, .unknown]).remembered == [nil, nil])
        let frames = RecordedDay.serialBytes(of: [try RecordedCollar().identity()])
        let heard = try run([.unknown, .unknown], reading: frames)
        #expect(heard.figures.map(\.dialect) == ["serial", "serial"])
        #expect(heard.remembered == [.serial, .serial])
    }

    /// The stick is asked at the same times, whatever is open before and after it.
    @Test func whatIsDueAtOnePortDoesNotDependOnTheOthers() throws {
        let alone = try #require(try run([.unknown]).written["/dev/ttyUSB0"])
        let kiss = try #require(try run([.named(.kiss)]).written["/dev/ttyUSB0"])
        let arrangements: [[Stick]] = [
            [.serial, .unknown], [.unknown, .serial], [.closed, .unknown], [.serial, .serial, .unknown, .serial, .unknown],
            [.unknown, .unknown], [.named(.kiss), .unknown], [.unknown, .named(.kiss)], [.closed, .serial, .named(.kiss)],
        ]
        for sticks in arrangements {
            let outcome = try run(sticks)
            for (index, stick) in sticks.enumerated() {
                let written = outcome.written["/dev/ttyUSB\(index)"]
                switch stick {
                case .unknown: #expect(written == alone, "\(sticks) \(index)")
                case .named: #expect(written == kiss, "\(sticks) \(index)")
                case .serial, .closed: #expect(written == nil, "\(sticks) \(index)")
                }
                #expect(outcome.figures[index].state != .detecting, "\(sticks) \(index)")
                if stick == .closed { #expect(outcome.figures[index].state == .gone, "\(sticks) \(index)") }
            }
        }
    }

    /// Each stick that does not answer is reported.
    @Test func eachStickThatDoesNotAnswerIsReported() throws {
        func silent(_ outcome: Outcome) -> [String] {
            outcome.notices.compactMap { if case .modem(let path, .notAnswering) = $0 { path } else { nil } }
        }
        #expect(silent(try run([.named(.kiss)])) == ["/dev/ttyUSB0"])
        #expect(silent(try run([.serial, .named(.kiss), .named(.rnode)])).sorted() == ["/dev/ttyUSB1", "/dev/ttyUSB2"])
    }
}
