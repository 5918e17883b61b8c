/// Class and number of a UBX message. The names are those of u-blox's interface descriptions.
public struct UBXMessageType: Equatable, Sendable {
    /// The class.
    public let messageClass: UInt8
    /// The number within the class.
    public let number: UInt8

    init(_ messageClass: UInt8, _ number: UInt8) {
        self.messageClass = messageClass
        self.number = number
    }

    /// Position, velocity and time of a moment.
    static var navigationPVT: UBXMessageType { UBXMessageType(0x01, 0x07) }
    /// Asks the receiver to save power, here to switch itself off.
    static var powerRequest: UBXMessageType { UBXMessageType(0x02, 0x41) }
    /// A configuration message is refused.
    static var refused: UBXMessageType { UBXMessageType(0x05, 0x00) }
    /// A configuration message is accepted.
    static var accepted: UBXMessageType { UBXMessageType(0x05, 0x01) }
    /// How often a message is sent (before generation 9).
    static var messageRate: UBXMessageType { UBXMessageType(0x06, 0x01) }
    /// Interval of measurements (before generation 9).
    static var rate: UBXMessageType { UBXMessageType(0x06, 0x08) }
    /// Whether power is saved (before generation 9).
    static var receiverManager: UBXMessageType { UBXMessageType(0x06, 0x11) }
    /// The dynamic model (before generation 9).
    static var navigationEngine: UBXMessageType { UBXMessageType(0x06, 0x24) }
    /// How power is saved (before generation 9).
    static var powerManagement: UBXMessageType { UBXMessageType(0x06, 0x3B) }
    /// State of the antenna, among others (before generation 9).
    static var hardwareStatus: UBXMessageType { UBXMessageType(0x0A, 0x09) }
    /// State of the antenna, among others (from generation 9 on).
    static var radioStatus: UBXMessageType { UBXMessageType(0x0A, 0x38) }
    /// Sets values by their keys (from generation 9 on).
    static var setValues: UBXMessageType { UBXMessageType(0x06, 0x8A) }
}
