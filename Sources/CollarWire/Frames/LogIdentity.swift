/// The collar and the log to which a frame belongs. The CRC of the frame is bound to them, and they are part of a fix's
/// identifier.
public struct LogIdentity: Equatable, Sendable {
    /// Factory id of the collar, 64 bits.
    public let deviceID: DeviceID
    /// Id of the log, 26 random bits drawn when the log was formatted.
    public let logID: LogID
    /// The CRC over device id and log id, from which the CRC of every frame of this log starts.
    let boundCRC: CRC24
    #if !hasFeature(Embedded)
    /// ``boundCRC``, extended by the length of the commonest frame.
    let commonFrameCRC: CRC24
    #endif

    /// Creates an identity.
    public init(deviceID: DeviceID, logID: LogID) {
        self.deviceID = deviceID
        self.logID = logID
        var crc = CRC24()
        crc.update(bigEndian: deviceID.rawValue)
        crc.update(bigEndian: logID.rawValue)
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
        write(log.logID.rawValue &<< 6, 32)
        write(bootCount, 32)
    }
}

extension BitReader {
    @_lifetime(self: copy self)
    mutating func readLog() -> (log: LogIdentity, bootCount: UInt32) {
        let log = LogIdentity(deviceID: DeviceID(rawValue: readWide()), logID: LogID(lowBitsOf: read(26)))
        _ = read(6)
        return (log, read(32))
    }
}
