import CollarARQ
import CollarJournal
import CollarWire

/// The collars that are heard at each port. Their number is in the answers there, because collars of one channel must not repeat
/// their frames in step.
final class ChannelCompany {
    /// A collar counts for this time after it was heard, in microseconds, or for ``heartbeatCount`` heartbeats if that is more.
    static let shortestTime: Int64 = 600_000_000
    static let heartbeatCount: Int64 = 3
    /// The collars of a journal written within this time before the start count from the start on, in milliseconds: an hour.
    static let knownMilliseconds: Int64 = 3_600_000

    private struct Port {
        /// Until when each collar counts, in microseconds; by the index of its session.
        var end: [Int64] = []
        var company = Company.alone
        /// Until when ``company`` holds if no further collar is heard, in microseconds.
        var nextCount = Int64.min
        var isAirtimeShort = false

        mutating func note(_ session: SessionID, until time: Int64) {
            while end.count <= session.index { end.append(.min) }
            end[session.index] = time
            nextCount = .min
        }

        mutating func noteFrame(of session: SessionID, at now: Int64, until time: Int64) {
            let isCounted = session.index < end.count && end[session.index] > now
            let next = isCounted ? min(nextCount, time) : .min
            note(session, until: time)
            nextCount = next
        }
    }

    private var ports: [Port] = []

    /// Collars that may be in reach of any port.
    private var known: [(session: SessionID, end: Int64)] = []

    /// Adds a port, which has the next number.
    func addPort() {
        ports.append(Port())
        for (session, end) in known { ports[ports.count - 1].note(session, until: end) }
    }

    /// A collar was heard by the receiver not long before it started.
    func noteKnown(_ session: SessionID, at now: Instant) {
        let end = now.microseconds + ChannelCompany.shortestTime
        known.append((session, end))
        for index in ports.indices { ports[index].note(session, until: end) }
    }

    func noteFrame(of session: SessionID, on link: LinkID, at now: Instant, heartbeatMicroseconds: Int64) {
        let time = max(ChannelCompany.shortestTime, ChannelCompany.heartbeatCount * heartbeatMicroseconds)
        ports[link.index].noteFrame(of: session, at: now.microseconds, until: now.microseconds + time)
    }

    /// Collars are asked for fewer polls while the airtime of the port's radio is short.
    func setAirtimeShort(_ isShort: Bool, of link: LinkID) { ports[link.index].isAirtimeShort = isShort }

    /// How many collars are heard at a port, as they are told: many where airtime is short.
    ///
    /// Complexity: linear in the number of collars after one was heard for the first time or may count no more; else constant.
    func company(on link: LinkID, at now: Instant) -> Company {
        if ports[link.index].isAirtimeShort { return .many }
        if now.microseconds >= ports[link.index].nextCount {
            let ends = ports[link.index].end.filter { $0 > now.microseconds }
            ports[link.index].company = Company(collarCount: ends.count)
            ports[link.index].nextCount = ends.min() ?? .max
        }
        return ports[link.index].company
    }

    func collars(on link: LinkID, at now: Instant) -> [SessionID] {
        let end = ports[link.index].end
        return end.indices.filter { end[$0] > now.microseconds }.map(SessionID.init)
    }
}
