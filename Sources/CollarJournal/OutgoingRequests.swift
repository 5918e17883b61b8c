import CollarARQ
import CollarWire

/// What a host wants of one collar and what became of it, as it is kept over restarts.
public struct OutgoingRequests: Equatable, Sendable {
    /// A request that has not ended.
    public struct Open: Equatable, Sendable {
        /// Its id on the air.
        public var requestID: UInt16
        /// What is wanted.
        public var request: HostRequest
        /// When it ends unanswered, in milliseconds since 1970.
        public var deadlineUnixMilliseconds: Int64

        /// Names a request.
        public init(requestID: UInt16, request: HostRequest, deadlineUnixMilliseconds: Int64) {
            self.requestID = requestID
            self.request = request
            self.deadlineUnixMilliseconds = deadlineUnixMilliseconds
        }
    }

    /// How a request ended.
    public enum End: Equatable, Sendable {
        /// By the collar's answer, or because its time was over.
        case outcome(HostRequestOutcome)
        /// A newer one of the same kind took its place before it was sent.
        case replaced
    }

    /// A request that has ended.
    public struct Ended: Equatable, Sendable {
        /// Its id on the air.
        public var requestID: UInt16
        /// What was wanted.
        public var request: HostRequest
        /// What became of it.
        public var end: End
    }

    /// Settings that a collar reported.
    public struct Report: Equatable, Sendable {
        /// Their version.
        public var version: UInt64
        /// Values by key; some are missing while only a part of the report has come.
        public var values: [UInt8: UInt32]
    }

    /// Requests that have ended and are kept, so that who waited for one can ask.
    public static let endedLimit = 16

    /// The collar.
    public let deviceID: UInt64
    /// The receiver in whose name requests are made.
    public let receiverID: UInt32
    /// The id that was used last; see ``RequestQueue``.
    public var lastRequestID: UInt16
    /// The highest version of settings that was ordered or reported.
    public private(set) var highestVersion: UInt64 = 0
    /// What the collar reported last; nil where it never did.
    public private(set) var report: Report?
    /// Requests that have not ended, in the order in which they were made.
    public var open: [Open] = []
    /// The last of those that have ended, the newest last.
    public private(set) var ended: [Ended] = []

    /// Nothing is wanted.
    /// - Parameter lastRequestID: ids that follow it are used next.
    public init(deviceID: UInt64, receiverID: UInt32, lastRequestID: UInt16) {
        self.deviceID = deviceID
        self.receiverID = receiverID
        self.lastRequestID = lastRequestID
    }

    /// Begins where nothing is known of earlier requests: at a random id. A collar gives the old result to an id that is
    /// one of the last eight it executed; a random one is among those with a probability of 1 in 8,000.
    public static func beginning(
        deviceID: UInt64, receiverID: UInt32, random: inout some RandomNumberGenerator
    ) -> OutgoingRequests {
        OutgoingRequests(
            deviceID: deviceID, receiverID: receiverID, lastRequestID: .random(in: 0 ... .max, using: &random))
    }

    /// Continues at a random id: the file may be an old copy, and ids used since then must not be used again. The next 32 ids
    /// hold none of the ended requests.
    public mutating func skipUsedIDs(random: inout some RandomNumberGenerator) {
        repeat {
            lastRequestID = .random(in: 0 ... .max, using: &random)
        } while ended.contains { $0.requestID &- lastRequestID <= UInt16(2 * OutgoingRequests.endedLimit) }
    }

    /// Notes that a version of settings exists.
    public mutating func learned(ofVersion version: UInt64) { highestVersion = max(highestVersion, version) }

    /// Takes in one frame of a report.
    public mutating func received(_ settings: Settings) {
        learned(ofVersion: settings.version)
        var values = report?.version == settings.version ? report?.values ?? [:] : [:]
        for index in 0..<settings.entries.count {
            let entry = settings.entries[index]
            if SettingKey(rawValue: entry.key) != nil { values[entry.key] = entry.value }
        }
        report = Report(version: settings.version, values: values)
    }

    /// Moves a request from the open ones to those that have ended.
    /// - Returns: what has ended; nil where no such request was open.
    @discardableResult
    public mutating func end(_ requestID: UInt16, _ end: End) -> Ended? {
        guard let index = open.firstIndex(where: { $0.requestID == requestID }) else { return nil }
        let one = Ended(requestID: requestID, request: open.remove(at: index).request, end: end)
        add(one)
        return one
    }

    mutating func add(_ one: Ended) {
        ended.append(one)
        if ended.count > OutgoingRequests.endedLimit { ended.removeFirst() }
    }

    mutating func restore(_ report: Report) { self.report = report }
}
