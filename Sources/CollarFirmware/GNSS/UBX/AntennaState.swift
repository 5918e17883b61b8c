/// The state of the antenna in MON-HW and MON-RF.
enum AntennaState {
    /// The offset of the state in the payload of a message; nil if the message has none. The first of the blocks of MON-RF counts:
    /// they are the bands of one antenna.
    static func offset(in type: UBXMessageType) -> Int? {
        type == .hardwareStatus ? 20 : type == .radioStatus ? 6 : nil
    }

    private static var short: UInt8 { 3 }
    private static var open: UInt8 { 4 }

    /// The event of a state. The others are: not known yet, not watched, and good.
    static func event(of state: UInt8) -> GNSSEvent { .antenna(isFaulty: state == short || state == open) }
}
