/// The last error that a collar met, as its status reports it. Section 13 of PROTOCOL.md has the table of the codes. Codes
/// from 128 on are the firmware's own.
public struct CollarFault: RawRepresentable, Hashable, Sendable {
    /// The code on the wire, 0 … 255; 0 for none.
    public var rawValue: UInt8

    /// Creates an error from its code.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// No error since the boot.
    public static var none: CollarFault { CollarFault(rawValue: 0) }
    /// The GNSS receiver does not answer.
    public static var gnssSilent: CollarFault { CollarFault(rawValue: 1) }
    /// The GNSS receiver reports a fault, or that its antenna is short-circuited or open.
    public static var gnssFault: CollarFault { CollarFault(rawValue: 2) }
    /// The flash memory fails: fixes may not be logged.
    public static var flashFailed: CollarFault { CollarFault(rawValue: 3) }
    /// The radio did not answer or did not send.
    public static var radioFailed: CollarFault { CollarFault(rawValue: 4) }
    /// The last boot came after the supply voltage was too low.
    public static var lowVoltageReset: CollarFault { CollarFault(rawValue: 5) }
    /// The last boot came after the firmware hung.
    public static var watchdogReset: CollarFault { CollarFault(rawValue: 6) }
    /// The last boot came after a fault of the firmware.
    public static var firmwareReset: CollarFault { CollarFault(rawValue: 7) }
    /// Settings were lost: older ones or the defaults are in force, and none have been set since.
    public static var settingsLost: CollarFault { CollarFault(rawValue: 8) }
}
