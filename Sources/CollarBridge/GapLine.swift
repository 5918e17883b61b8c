/// Fixes of a log that are not there, or no longer missing: one line of JSON, as `Protocol/schema/gap.schema.json`
/// describes it.
///
/// A consumer that keeps the ranges of these lines beside the sequences of the fixes can prove that it has everything:
/// what is missing is later filled, lost, or delivered elsewhere.
public struct GapLine: Equatable, Sendable {
    /// What is known of the range.
    public enum Event: String, Sendable, CaseIterable {
        /// Later fixes are there and these are not. They are asked for until something else is known.
        case missing
        /// All of them came after all. Where fixes are ordered by sequence their lines may follow later.
        case filled
        /// They will never come: the collar does not have them any more.
        case lost
        /// They will not come here: another receiver of the collar has them.
        case elsewhere
    }

    /// What is known.
    public var event: Event
    /// When it became known, in milliseconds since 1970 by the host's clock.
    public var unixMilliseconds: Int64
    /// The collar's factory id.
    public var deviceID: UInt64
    /// The log, 26 bits.
    public var logID: UInt32
    /// The first sequence of the range.
    public var first: UInt32
    /// The last sequence of the range, not below the first.
    public var last: UInt32

    /// Creates a line.
    public init(event: Event, unixMilliseconds: Int64, deviceID: UInt64, logID: UInt32, first: UInt32, last: UInt32) {
        self.event = event
        self.unixMilliseconds = unixMilliseconds
        self.deviceID = deviceID
        self.logID = logID
        self.first = first
        self.last = last
    }

    /// The line as text in UTF-8, which ends with a line feed.
    public var bytes: [UInt8] {
        var object = ObjectText(type: "gap")
        object.add("unix_ms", unixMilliseconds)
        object.add("event", event.rawValue)
        object.add("collar", MessageText.hexadecimal(deviceID, digits: 16))
        object.add("log", Int64(logID))
        object.add("first_seq", Int64(first))
        object.add("last_seq", Int64(last))
        return object.line
    }
}
