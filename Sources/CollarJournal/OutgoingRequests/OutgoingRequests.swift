import CollarARQ
import CollarWire

/// The requests of a host to one collar and their results, as they are kept across restarts.
package struct OutgoingRequests: Equatable, Sendable {
    package struct Open: Equatable, Sendable {
        /// The request's id on the air.
        package var requestID: UInt16
        package var request: HostRequest
        /// When the request ends if it is not answered, in milliseconds since 1970.
        package var deadlineUnixMilliseconds: Int64
        /// How many requests were made after this one; at most 8.
        package internal(set) var successorCount: UInt8 = 0
    }

    package enum End: Equatable, Sendable {
        /// The collar answered the request, or the request's deadline passed.
        case outcome(HostRequestOutcome)
        /// A newer request of the same kind replaced it before it was sent.
        case replaced
    }

    package struct Ended: Equatable, Sendable {
        package var requestID: UInt16
        package var request: HostRequest
        package var end: End
    }

    package struct Report: Equatable, Sendable {
        package var version: SettingsVersion
        /// Values by key; some are missing while only a part of the report has come.
        package var values: [UInt8: UInt32]
    }

    /// The most ended requests that are kept, so that a program that waited for one can ask for its result.
    package static let endedLimit = 16

    package let deviceID: UInt64
    /// The receiver in whose name requests are made.
    package let receiverID: UInt32
    /// The id that was used last; see `RequestQueue`.
    package private(set) var lastRequestID: UInt16
    /// The highest version of settings that was requested, or was reported and plausible.
    package private(set) var highestVersion = SettingsVersion.defaults
    /// The settings that the collar reported last; nil if it never did.
    package private(set) var report: Report?
    /// Requests that have not ended, in the order in which they were made.
    package internal(set) var open: [Open] = []
    /// The last requests that have ended, the newest last.
    package private(set) var ended: [Ended] = []

    /// Begins without requests. The ids that follow `lastRequestID` are used next.
    package init(deviceID: UInt64, receiverID: UInt32, lastRequestID: UInt16) {
        self.deviceID = deviceID
        self.receiverID = receiverID
        self.lastRequestID = lastRequestID
    }

    /// Begins at a random id, for use when nothing is known of earlier requests. If a collar receives one of the last eight ids
    /// that it executed, it only repeats the old result; a random id is among them with a probability of 1 in 8,000.
    package static func beginning(
        deviceID: UInt64, receiverID: UInt32, random: inout some RandomNumberGenerator
    ) -> OutgoingRequests {
        OutgoingRequests(
            deviceID: deviceID, receiverID: receiverID, lastRequestID: .random(in: 0 ... .max, using: &random))
    }

    /// Continues at a random id: the file may be an old copy, and ids used since then must not be used again. None of the
    /// next 32 ids is that of a request in the file.
    package mutating func skipUsedIDs(random: inout some RandomNumberGenerator) {
        let usedIDs = open.map(\.requestID) + ended.map(\.requestID)
        repeat {
            lastRequestID = .random(in: 0 ... .max, using: &random)
        } while usedIDs.contains { $0 &- lastRequestID <= UInt16(2 * OutgoingRequests.endedLimit) }
    }

    /// Adds a request that was made now, with the id that it got.
    package mutating func add(requestID: UInt16, _ request: HostRequest, deadlineUnixMilliseconds: Int64) {
        for index in open.indices { open[index].successorCount = min(open[index].successorCount + 1, 8) }
        lastRequestID = requestID
        open.append(Open(requestID: requestID, request: request, deadlineUnixMilliseconds: deadlineUnixMilliseconds))
    }

    /// Notes that a version of settings exists. One that is not plausible is ignored: it would leave no higher version.
    package mutating func learn(of version: SettingsVersion) {
        if version.isPlausible(after: highestVersion) { highestVersion = max(highestVersion, version) }
    }

    package mutating func accept(_ settings: Settings) {
        learn(of: settings.version)
        var values = report?.version == settings.version ? report?.values ?? [:] : [:]
        for index in 0..<settings.entries.count {
            let entry = settings.entries[index]
            if SettingKey(rawValue: entry.key) != nil { values[entry.key] = entry.value }
        }
        report = Report(version: settings.version, values: values)
    }

    /// Moves a request from the open ones to those that have ended.
    /// - Returns: the ended request; nil if it was not open.
    @discardableResult
    package mutating func end(_ requestID: UInt16, _ end: End) -> Ended? {
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

/// How long a request may wait for its collar.
package enum RequestPatience: Equatable, Sendable {
    /// Until the collar is heard, but at most a week, also across restarts.
    case untilHeard
    /// As ``untilHeard``. The request replaces earlier requests of the same kind that were never sent.
    case latest
    /// At most this many milliseconds. The request is refused if the collar is not in contact.
    case now(milliseconds: Int64)
}
