/// Times that hold for sticks of every dialect, in microseconds.
enum StickTiming {
    /// Time between two checks of a stick that has nothing to send.
    static let checkInterval: Int64 = 5_000_000
    /// Time until a stick that refused a setting is set up again.
    static let refusalTime: Int64 = 60_000_000
}

/// The time that the way between the receiver and a stick adds, in microseconds.
struct LineDelay: Equatable, Sendable {
    /// Time that an answer may take beyond the time of the stick itself.
    var answerMicroseconds: Int64
    /// Time from the stick to the receiver and back, as it was measured; 0 if it is not known.
    var roundTripMicroseconds: Int64

    /// The delay of a port.
    /// - Parameter roundTripMicroseconds: the measured time to the stick's machine and back; 0 if it is not known.
    init(_ kind: RadioModem.PortKind, roundTripMicroseconds: Int64) {
        let roundTrip = min(max(0, roundTripMicroseconds), 10_000_000)
        self.roundTripMicroseconds = roundTrip
        // Mobile networks, VPNs and further bridges delay bytes by up to a second.
        answerMicroseconds = kind == .network ? max(1_500_000, 2 * roundTrip) : 0
    }
}
