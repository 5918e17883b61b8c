import CollarFirmware

/// What a simulated collar lets the people near it see and hear.
package enum GivenSignal: Equatable, CustomStringConvertible {
    /// A signal of the collar.
    case signal(Signal)
    /// The sound that a host commanded, and its length.
    case sound(milliseconds: UInt16)

    package var description: String {
        switch self {
        case .signal(let signal): "\(signal)"
        case .sound(let milliseconds): "a sound of \(Double(milliseconds) / 1000) s"
        }
    }
}
