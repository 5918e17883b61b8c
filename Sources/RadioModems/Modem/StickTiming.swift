/// Times that hold for sticks of every dialect, in microseconds.
enum StickTiming {
    /// Time between two checks of a stick that has nothing to send.
    static let checkInterval: Int64 = 5_000_000
    /// Time until a stick that refused a setting is set up again.
    static let refusalTime: Int64 = 60_000_000
}
