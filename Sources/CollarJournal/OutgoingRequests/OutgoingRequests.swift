import CollarARQ
import CollarWire

/// The requests of a host to one collar, as they are kept across restarts: the open ones, the last results, and the settings that the
/// collar reported.
package struct OutgoingRequests: Sendable {
    package struct Report: Equatable, Sendable {
        package var version: SettingsVersion
        /// Values by key; some are missing while only a part of the report has come.
        package var values: [UInt8: UInt32]
    }

    /// The most ended requests that are kept, so that a program that waited for one can ask for its result.
    package static let endedLimit = 16
    /// The longest time that a request waits for its answer, in milliseconds: a week.
    package static let longestWait: Int64 = 7 * 24 * 3_600_000

    package let deviceID: DeviceID
    /// The open requests, and the protocol that sends them in the name of a receiver.
    package var queue: RequestQueue
    /// The highest version of settings that was requested, or was reported and plausible.
    package private(set) var highestVersion = SettingsVersion.defaults
    /// The settings that the collar reported last; nil if it never did.
    package internal(set) var report: Report?
    /// The last requests that have ended, the newest last.
    package private(set) var ended: [EndedRequest] = []

    /// Begins without requests. The ids that follow `lastRequestID` are used next.
    package init(deviceID: DeviceID, receiverID: UInt32, lastRequestID: UInt16) {
        self.deviceID = deviceID
        queue = RequestQueue(receiverID: receiverID, lastRequestID: lastRequestID)
    }

    /// Begins at a random id, for use when nothing is known of earlier requests. If a collar receives one of the last eight ids
    /// that it executed, it only repeats the old result; a random id is among them with a probability of 1 in 8,000.
    package static func beginning(
        deviceID: DeviceID, receiverID: UInt32, random: inout some RandomNumberGenerator
    ) -> OutgoingRequests {
        OutgoingRequests(deviceID: deviceID, receiverID: receiverID, lastRequestID: .random(in: 0 ... .max, using: &random))
    }

    /// Continues at a random id: the file may be an old copy, and ids used since then must not be used again. None of the
    /// next 32 ids is that of a request in the file.
    package mutating func skipUsedIDs(random: inout some RandomNumberGenerator) {
        let usedIDs = open.map(\.requestID) + ended.map(\.requestID)
        repeat {
            queue.lastRequestID = .random(in: 0 ... .max, using: &random)
        } while usedIDs.contains { $0 &- queue.lastRequestID <= UInt16(2 * OutgoingRequests.endedLimit) }
    }

    /// Requests that have not ended, in the order in which they were made.
    package var open: [OpenRequest] { (0..<queue.count).compactMap { queue[$0] } }

    /// Adds a request, as `RequestQueue.add(_:deadline:isLatestOnly:)` does.
    /// - Returns: its id, and the requests that it ends; nil if there is no room for it.
    package mutating func add(
        _ request: HostRequest, deadline: Instant, isLatestOnly: Bool
    ) -> (requestID: UInt16, ended: [EndedRequest])? {
        let former = open
        guard let id = queue.add(request, deadline: deadline, isLatestOnly: isLatestOnly) else { return nil }
        let removed = former.filter { !queue.isOpen($0.requestID) }.map {
            EndedRequest(
                requestID: $0.requestID, request: $0.request, outcome: $0.request.isReplaced(by: request) ? .replaced : .expired)
        }
        for one in removed { note(one) }
        return (id, removed)
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

    package mutating func note(_ request: EndedRequest) {
        ended.append(request)
        if ended.count > OutgoingRequests.endedLimit { ended.removeFirst() }
    }
}

/// How long a request may wait for its collar.
package enum RequestPatience: Equatable, Sendable {
    /// Until the collar is heard, but at most a week, also across restarts.
    case untilHeard
    /// As ``untilHeard``. The request replaces earlier requests of the same kind that were never sent.
    case latest
    /// At most this many microseconds. The request is refused if the collar is not in contact.
    case now(microseconds: Int64)
}
