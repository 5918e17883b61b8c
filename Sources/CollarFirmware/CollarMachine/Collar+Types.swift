import CollarARQ
import CollarWire

extension Collar {
    /// The identity of a collar, and how it communicates.
    public struct Configuration: Sendable {
        /// Factory id, 64 bits.
        public var deviceID: UInt64
        /// Address on the air, 1 … 254.
        public var address: UInt8
        /// The largest frame the radio carries, 51 … 253 bytes.
        public var maximumFrameByteCount: Int
        /// The firmware version that the collar reports.
        public var firmwareVersion: FirmwareVersion
        /// The capabilities that the collar reports.
        public var capabilities: Capabilities
        /// Parameters of the traffic.
        public var delivery: CollarDelivery.Configuration
        /// The key that the collar gets where it is made; nil for none. It is stored at the first boot with it, if the flash has
        /// never held a key. From then on the stored key counts.
        public var factoryKey: CollarKey?
        /// Whether the boot is a power-on. After a power-on the collar obeys the command *pair* of any receiver for 60 s.
        public var isPoweredOn: Bool

        /// Creates a configuration.
        public init(
            deviceID: UInt64, address: UInt8, maximumFrameByteCount: Int = Frame.maximumByteCount,
            firmwareVersion: FirmwareVersion, capabilities: Capabilities = Capabilities(rawValue: 0),
            delivery: CollarDelivery.Configuration, factoryKey: CollarKey? = nil, isPoweredOn: Bool = false
        ) {
            self.deviceID = deviceID
            self.address = address
            self.maximumFrameByteCount = maximumFrameByteCount
            self.firmwareVersion = firmwareVersion
            self.capabilities = capabilities
            self.delivery = delivery
            self.factoryKey = factoryKey
            self.isPoweredOn = isPoweredOn
        }
    }

    /// What a received frame was.
    public enum Reception: Equatable, Sendable {
        /// An acknowledgement from the collar's receiver.
        case acknowledgement(CollarDelivery.AcknowledgementResult)
        /// An acknowledgement from a receiver that the collar does not obey; it is ignored.
        case otherReceiver(UInt32)
        /// A request for the identity.
        case identityRequest
        /// A frame in clear that a collar with a key does not obey.
        case notSealed
        /// The collar obeys nothing on its radio: it has lost its key, or it must be booted again, with its new key.
        case silent
        /// A frame for another collar, or one that only a collar or a radio sends.
        case notForThisCollar
        /// A message for the application. The collar already remembers its ids durably, but not its content. Call
        /// ``Collar/finish(requestID:outcome:)`` once the application has the message; after a reboot before that call, the
        /// result is *failed*, and a repeat does not bring the message again. A reply with data is another message, see
        /// ``Collar/log(_:)-(ApplicationMessage)``.
        case message(HostMessage)
        /// An action to carry out now; the command is already stored durably. After a locate or a sound, call
        /// ``Collar/finish(requestID:outcome:)``. For the other actions the core has done its part and queued the reply.
        case command(requestID: UInt16, Command.Action)
        /// New settings are in force; see ``Collar/settings``.
        case settingsChanged
        /// A request for the settings.
        case settingsRequest
        /// A repeated request: it has no further effect. It gets its reply again, unless the collar is still executing it.
        case repeatedRequest(requestID: UInt16)
        /// A request that had no effect; a reply with this outcome waits to be sent.
        case requestNotExecuted(requestID: UInt16, CommandResult.Outcome)
        /// A request that had no effect and gets no reply: too many replies wait, or an earlier reply to the same request waits.
        case requestNotTaken(requestID: UInt16)
        /// Not a frame that this collar can use.
        case rejected(DecodeError)
    }
}
