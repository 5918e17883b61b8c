import CheckedNumbers
import CollarFormats
import CollarWire

/// A figure that only a running receiver knows. The raw value is its key in the line of figures, with the unit at the end. Counts are
/// since the start; latencies are those of `HostLatencies`.
package enum ReceiverFigure: String, CaseIterable, Sendable {
    case uptime = "uptime_ms"
    case fixes = "fixes_stored"
    case messages = "messages_stored"
    case duplicates
    case lines
    /// Valid frames of known collars since the start.
    case frames
    case damagedFrames = "frames_damaged"
    /// Frames of no known collar since the start.
    case unknownFrames = "frames_unknown"
    /// Frames of another version since the start.
    case unsupportedFrames = "frames_unsupported"
    /// Sealed frames without a fitting key since the start.
    case unopenedFrames = "frames_unopened"
    /// Intact frames with an impossible content since the start.
    case malformedFrames = "frames_malformed"
    /// For how long the consumer has not read; 0 while it reads.
    case outputBlocked = "output_blocked_ms"
    case outputLagBytes = "output_lag_bytes"
    /// For how long the oldest fix that the consumer does not have has waited.
    case outputLag = "output_lag_ms"
    /// 1 where a journal does not store, else 0.
    case storageFailing = "storage_failing"
    case fixLatencyAverage = "fix_latency_average_us"
    case fixLatencyP95 = "fix_latency_p95_us"
    case lineLatencyAverage = "line_latency_average_us"
    case lineLatencyP95 = "line_latency_p95_us"
    case messageLatencyAverage = "message_latency_average_us"
    case messageLatencyP95 = "message_latency_p95_us"
    /// Airtime of all answers since the start.
    case airtime = "airtime_us"
    case residentBytes = "resident_bytes"
    case processorTime = "processor_us"
}

/// A figure of one collar that only a running receiver knows; `metric` says what it means. The raw value is its key in the line of figures.
package enum CollarFigure: String, CaseIterable, Sendable {
    /// Sequences of the current log that are known to exist and not stored.
    case missing
    case airtime = "airtime_ms"
    case retransmissions
    case queueDepth = "queue_depth"
    /// 1 where the collar is reachable, 0 where it missed three heartbeats.
    case reachable
    /// Time since the collar was heard last, or since its link was opened.
    case silence = "silent_ms"
    /// 1 where the collar was heard since the start, else 0.
    case heard
    /// How often the collar has booted, as its last identity says.
    case boots
    /// Of the last power report: since the boot of the collar.
    case gnssTime = "gnss_s"
    case listeningTime = "listening_ms"
    case awakeTime = "awake_ms"
    case searches
    case searchFailures = "search_failures"
    /// Of the last power report: searches without a position since the last one that found one.
    case failuresInRow = "search_failures_in_row"
    /// Of the last power report: absent where the receiver found none since the boot.
    case timeToFix = "time_to_fix_ms"
    /// Absent where the settings are not known, and while the GNSS receiver is always on.
    case fixInterval = "fix_interval_ms"
    case heartbeat = "heartbeat_s"
    /// Absent where the collar has no schedule.
    case staleAge = "stale_after_ms"
}

/// A radio of a running receiver.
package struct RadioFigures: Equatable, Sendable {
    /// The state of the port. The raw value is the word in the line of figures.
    package enum State: String, CaseIterable, Sendable {
        /// Frames come and go.
        case open
        /// The port is open, and the dialect of its stick is not known yet.
        case detecting
        /// The port is open, and its stick has no settings: no region is set.
        case unset
        /// The port is open, and no collar radio answers at it.
        case stranger
        /// A connection to another machine is being made.
        case connecting
        /// The radio is absent; the receiver looks for it once a second.
        case waiting
        /// The port could not be opened, and is tried again after some time.
        case retrying
        /// The same line is open by another path.
        case shared
        /// Nothing is open until udev finds the device again.
        case gone
    }

    /// The path of the port, or the address of the radio.
    package var port: String
    package var state: State
    /// The dialect that its stick speaks, as `--dialect` names it; nil while that is not known.
    package var dialect: String?
    /// Whether the airtime that the region allows it runs short.
    package var isAirtimeShort: Bool

    package init(port: String, state: State, dialect: String? = nil, isAirtimeShort: Bool = false) {
        self.port = port
        self.state = state
        self.dialect = dialect
        self.isAirtimeShort = isAirtimeShort
    }

    /// The object in the line of figures.
    package var object: JSONLine {
        var object = JSONLine()
        object.add("port", port)
        object.add("state", state.rawValue)
        object.add("dialect", dialect)
        if isAirtimeShort { object.add("airtime_short", true) }
        return object
    }

    /// Reads the object; nil if it is not one.
    package init?(_ object: JSONValue) {
        guard let port = object["port"]?.text, let state = object["state"]?.text.flatMap(State.init) else { return nil }
        self.init(port: port, state: state, dialect: object["dialect"]?.text, isAirtimeShort: object["airtime_short"]?.boolean == true)
    }
}

/// The figures of a running receiver at one moment, as it tells them at its control socket. A figure that is absent is unknown.
package struct ReceiverFigures: Equatable, Sendable {
    /// The figures of the receiver as a whole.
    package var values: [ReceiverFigure: Int64] = [:]
    /// How many errors of each code were reported since the start, by ``ErrorCode``.
    package var errorCounts: [String: Int64] = [:]
    package var collars: [DeviceID: [CollarFigure: Int64]] = [:]
    /// The radios, in the order in which they were named or found.
    package var radios: [RadioFigures] = []

    package init() {}

    /// The line of JSON, with its line feed, as `Protocol/schema/figures.schema.json` describes it.
    package func line(unixMilliseconds now: Int64) -> [UInt8] {
        var object = JSONLine(type: "figures", unixMilliseconds: now)
        for figure in ReceiverFigure.allCases {
            if let value = values[figure] { object.add(figure.rawValue, value) }
        }
        var errors = JSONLine()
        for (code, count) in errorCounts.sorted(by: { $0.key < $1.key }) { errors.add(code, count) }
        object.add("errors", errors)
        object.add("collars", collars.sorted { $0.key < $1.key }.map { deviceID, values in
            var collar = JSONLine()
            collar.add(collar: deviceID, name: nil)
            for figure in CollarFigure.allCases {
                if let value = values[figure] { collar.add(figure.rawValue, value) }
            }
            return collar
        })
        object.add("radios", radios.map(\.object))
        return object.line
    }

    /// Reads a line, with or without its line feed; nil if it is not a line of figures. Members that are not known are passed
    /// over: the receiver may be of a later version.
    package init?(line: some Sequence<UInt8>) {
        let object: JSONValue
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: Array(line)) } catch { return nil }
        guard object["type"]?.text == "figures" else { return nil }
        for figure in ReceiverFigure.allCases { values[figure] = object[figure.rawValue]?.integer(in: .exactNumbers) }
        if case .object(let members) = object["errors"] {
            for member in members { errorCounts[member.key] = member.value.integer(in: .exactNumbers) }
        }
        if case .array(let list) = object["radios"] { radios = list.compactMap { RadioFigures($0) } }
        guard case .array(let list) = object["collars"] else { return }
        for one in list {
            guard let deviceID = one["collar"]?.text.flatMap(CollarID.deviceID) else { return nil }
            var values: [CollarFigure: Int64] = [:]
            for figure in CollarFigure.allCases { values[figure] = one[figure.rawValue]?.integer(in: .exactNumbers) }
            collars[deviceID] = values
        }
    }
}

/// A target of performance. The raw value is its name in metrics.
package enum PerformanceTarget: String, CaseIterable, Sendable {
    /// 95 % of the newest fixes are received less than half a second after their time.
    case fixLatency = "fix_latency"
    /// 95 % of the polls are answered within a tenth of a second, on a link as fast as a serial line.
    case messageLatency = "message_latency"
    case memory
    case processor

    /// A longer latency of a fix, in microseconds, is that of a collar that was out of reach, of a wrong clock, or of an old track.
    package static let longestFixLatency: Int64 = 60_000_000

    /// The figure that is compared: microseconds, bytes, or percent of a processor; nil if it is unknown.
    package func value(in figures: ReceiverFigures) -> Int64? {
        switch self {
        case .fixLatency: return figures.values[.fixLatencyP95]
        case .messageLatency: return figures.values[.messageLatencyP95]
        case .memory: return figures.values[.residentBytes]
        case .processor:
            guard let used = figures.values[.processorTime], let uptime = figures.values[.uptime], uptime > 0 else { return nil }
            // Microseconds and milliseconds.
            return used / (uptime * 10)
        }
    }

    /// Whether the target is met; nil if that is unknown.
    package func isMet(by figures: ReceiverFigures) -> Bool? { value(in: figures).map(isMet(by:)) }

    /// - Parameter value: microseconds, bytes, or percent of a processor.
    package func isMet(by value: Int64) -> Bool {
        switch self {
        case .fixLatency: value < 500_000
        case .messageLatency: value < 100_000
        case .memory: value <= 50_000_000
        case .processor: value < 10
        }
    }
}

/// A request for the figures of the receiver, which goes to no collar: one line of JSON. The answer is one line of
/// ``ReceiverFigures``.
///
///     {"type":"request","do":"figures"}
package enum FiguresRequest {
    private static let verb = "figures"

    /// The request as a line that ends with a line feed.
    package static var line: [UInt8] {
        var object = JSONLine(type: "request")
        object.add("do", verb)
        return object.line
    }

    /// Whether a line is this request; false for any other line, right or wrong.
    package static func isIn(_ line: [UInt8]) throws(ControlRequest.Fault) -> Bool {
        let object: JSONValue
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: line) } catch { return false }
        guard case .object(let members) = object, object["do"]?.text == verb else { return false }
        for member in members where member.key != "do" && !(member.key == "type" && member.value == .string("request")) {
            throw ControlRequest.Fault(reason: "\"\(member.key)\" is not expected here.")
        }
        return true
    }
}

package enum FiguresAnswer: Equatable, Sendable {
    case figures(ReceiverFigures)
    /// The receiver refuses to tell them, for this reason.
    case refused(reason: String)
    case none
}

extension ControlConnection {
    /// - Parameter end: until when to wait for the answer, a time of ``MonotonicClock``.
    package func figures(untilMicroseconds end: Int64) -> FiguresAnswer {
        send(FiguresRequest.line)
        guard case .line(let line) = nextLine(untilMicroseconds: end) else { return .none }
        if let figures = ReceiverFigures(line: line) { return .figures(figures) }
        return ResultLine(bytes: line)?.reason.map { .refused(reason: $0) } ?? .none
    }
}
