/// The collar and the log to which a frame belongs. The CRC of the frame is bound to them, and they are part of a fix's
/// identifier.
public struct LogIdentity: Equatable, Sendable {
    /// Factory id of the collar, 64 bits.
    public let deviceID: DeviceID
    /// Id of the log, 26 random bits drawn when the log was formatted.
    public let logID: UInt32
    /// The CRC over device id and log id, from which the CRC of every frame of this log starts.
    let boundCRC: CRC24
    #if !hasFeature(Embedded)
    /// ``boundCRC``, extended by the length of the commonest frame.
    let commonFrameCRC: CRC24
    #endif

    /// The highest log id: 26 bits.
    public static let maximumLogID: UInt32 = (1 &<< 26) - 1

    /// Creates an identity; nil when the log id has more than 26 bits.
    public init?(deviceID: DeviceID, logID: UInt32) {
        guard logID <= LogIdentity.maximumLogID else { return nil }
        self.deviceID = deviceID
        self.logID = logID
        var crc = CRC24()
        crc.update(bigEndian: deviceID.rawValue)
        crc.update(bigEndian: logID)
        boundCRC = crc
        #if !hasFeature(Embedded)
        crc.update(StreamDecoder.commonFrameByteCount)
        commonFrameCRC = crc
        #endif
    }

    /// A 24-bit digest of device id and log id, which a ``Probe`` carries.
    public var tag: UInt32 { boundCRC.checksum }

    /// Same device, same log.
    public static func == (left: LogIdentity, right: LogIdentity) -> Bool {
        left.deviceID == right.deviceID && left.logID == right.logID
    }
}

/// The fields with which an ``Identity`` and a ``KeyOffer`` begin: device id (64 bits), log id (26), zero (6; ignored by a receiver),
/// boot count (32).
extension BitWriter {
    mutating func write(_ log: LogIdentity, bootCount: UInt32) {
        write(wide: log.deviceID.rawValue)
        write(log.logID &<< 6, 32)
        write(bootCount, 32)
    }
}

extension BitReader {
    @_lifetime(self: copy self)
    mutating func readLog() -> (log: LogIdentity, bootCount: UInt32) {
        let deviceID = DeviceID(rawValue: readWide())
        guard let log = LogIdentity(deviceID: deviceID, logID: read(26)) else { preconditionFailure("26 bits are a log id") }
        _ = read(6)
        return (log, read(32))
    }
}
