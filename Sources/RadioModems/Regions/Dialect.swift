/// The protocol that a base stick speaks at its port. The raw values are the names that a person types.
package enum Dialect: String, CaseIterable, Sendable {
    /// The serial line of the Collar Link Protocol: a stick with this project's firmware, a cable to the collar, or a bridge that
    /// carries bytes unchanged.
    case serial
    /// The KISS modem of MeshCore.
    case kiss
    /// RNode firmware.
    case rnode
    /// The AT commands of RAK's RUI3, in point-to-point mode.
    case rui3
}
