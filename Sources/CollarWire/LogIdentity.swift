/// The collar and the log that a frame belongs to: what its check is bound to and what makes a fix's id.
public struct LogIdentity: Equatable, Sendable {
    /// Factory id of the collar, 64 bits.
    public let deviceID: UInt64
    /// Id of the log, 26 random bits drawn when the log was formatted.
    public let logID: UInt32
    /// The check after device id and log id, where every frame of this log starts.
    let boundCheck: CRC24
    #if !hasFeature(Embedded)
    /// The same after the length of the commonest frame.
    let commonFrameCheck: CRC24
    #endif

    /// The highest log id: 26 bits.
    public static let maximumLogID: UInt32 = (1 &<< 26) - 1

    /// Creates an identity; nil when the log id has more than 26 bits.
    public init?(deviceID: UInt64, logID: UInt32) {
        guard logID <= LogIdentity.maximumLogID else { return nil }
        self.deviceID = deviceID
        self.logID = logID
        var check = CRC24()
        check.update(bigEndian: deviceID)
        check.update(bigEndian: logID)
        boundCheck = check
        #if !hasFeature(Embedded)
        check.update(StreamDecoder.commonFrameByteCount)
        commonFrameCheck = check
        #endif
    }

    /// A 24-bit digest of device id and log id, which a ``Probe`` carries.
    public var tag: UInt32 { boundCheck.checksum }

    /// Same device, same log.
    public static func == (left: LogIdentity, right: LogIdentity) -> Bool {
        left.deviceID == right.deviceID && left.logID == right.logID
    }
}
