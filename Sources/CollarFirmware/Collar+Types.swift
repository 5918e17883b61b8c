import CollarARQ
import CollarWire

extension Collar {
    /// Who a collar is, and how it talks.
    public struct Configuration: Sendable {
        /// Factory id, 64 bits.
        public var deviceID: UInt64
        /// Address on the air, 1 … 254.
        public var address: UInt8
        /// The largest frame the radio carries, 51 … 253 bytes.
        public var maximumFrameByteCount: Int
        /// Version the collar reports.
        public var firmwareVersion: FirmwareVersion
        /// What the collar reports it can do.
        public var capabilities: Capabilities
        /// Shape of the traffic.
        public var delivery: CollarDelivery.Configuration
        /// Whether power came on: then the order to pair is obeyed from anybody for 60 s.
        public var isPoweredOn: Bool

        /// Creates a configuration.
        public init(
            deviceID: UInt64, address: UInt8, maximumFrameByteCount: Int = Frame.maximumByteCount,
            firmwareVersion: FirmwareVersion, capabilities: Capabilities = Capabilities(rawValue: 0),
            delivery: CollarDelivery.Configuration, isPoweredOn: Bool = false
        ) {
            self.deviceID = deviceID
            self.address = address
            self.maximumFrameByteCount = maximumFrameByteCount
            self.firmwareVersion = firmwareVersion
            self.capabilities = capabilities
            self.delivery = delivery
            self.isPoweredOn = isPoweredOn
        }
    }

    /// What a received frame was.
    public enum Reception: Equatable, Sendable {
        /// An acknowledgement of the collar's receiver.
        case acknowledgement(CollarDelivery.AcknowledgementResult)
        /// A receiver that is not the collar's own acknowledged; ignored.
        case otherReceiver(UInt32)
        /// Somebody asked who is there.
        case identityRequest
        /// For another collar, or from one.
        case notForThisCollar
        /// A message of an application, which this collar does not serve.
        case unsupported
        /// An order to carry out now; it is durable that it came. After locate and sound call
        /// ``Collar/finish(requestID:outcome:)``, the others are done and answered as far as the core is concerned.
        case command(requestID: UInt16, Command.Order)
        /// Other settings are in force; see ``Collar/settings``.
        case settingsChanged
        /// Somebody asked for the settings.
        case settingsRequest
        /// A request that was executed before: it has no effect, and gets the old result.
        case repeatedRequest(requestID: UInt16)
        /// A request that had no effect; this answer waits to be sent.
        case requestNotExecuted(requestID: UInt16, CommandResult.Outcome)
        /// A request that had no effect and gets no answer of its own: too many answers wait, or an earlier one to it.
        case requestNotTaken(requestID: UInt16)
        /// Not a frame this collar can use.
        case rejected(DecodeError)
    }
}
