/// The permanent identifier of a fix, the same for every receiver: the collar, its log, and the index in that log.
///
/// It is written as a UUID of version 8 (RFC 9562). The 122 free bits of such a UUID hold the device id (64 bits), the log id
/// (26 bits) and the sequence (32 bits), most significant first:
///
///     bits of the UUID   0…47     48…51      52…63     64…65        66…69    70…95    96…127
///                        device   version    device    variant      device   log id   sequence
///                        63…16    1000       15…4      10           3…0
public struct FixIdentifier: Equatable, Sendable {
    /// The collar's 64-bit factory id.
    public let deviceID: UInt64
    /// The id of the log that holds the fix, 26 bits, drawn when the log was formatted.
    public let logID: UInt32
    /// Index of the fix in that log.
    public let sequence: UInt32

    /// Creates an identifier.
    /// - Precondition: `logID` fits 26 bits, as every log id of the protocol does.
    @inlinable
    public init(deviceID: UInt64, logID: UInt32, sequence: UInt32) {
        precondition(logID <= LogIdentity.maximumLogID, "a log id has 26 bits")
        self.deviceID = deviceID
        self.logID = logID
        self.sequence = sequence
    }

    /// Reads an identifier from the two halves of a UUID, most significant bytes first.
    /// Nil if the UUID has another version than 8 or another variant than that of RFC 9562.
    public init?(high: UInt64, low: UInt64) {
        guard (high &>> 12) & 0xF == 8, low &>> 62 == 0b10 else { return nil }
        let upperDevice = high & 0xFFFF_FFFF_FFFF_0000
        let middleDevice = (high & 0xFFF) &<< 4
        deviceID = upperDevice | middleDevice | ((low &>> 58) & 0xF)
        logID = UInt32(truncatingIfNeeded: low &>> 32) & LogIdentity.maximumLogID
        sequence = UInt32(truncatingIfNeeded: low)
    }

    /// The first eight bytes of the UUID, most significant first.
    @inlinable
    public var high: UInt64 {
        let version: UInt64 = 0x8000
        return (deviceID & 0xFFFF_FFFF_FFFF_0000) | version | ((deviceID &>> 4) & 0xFFF)
    }

    /// The last eight bytes of the UUID, most significant first.
    @inlinable
    public var low: UInt64 {
        let variant: UInt64 = 0x8000_0000_0000_0000
        return variant | ((deviceID & 0xF) &<< 58) | (UInt64(widening: logID) &<< 32) | UInt64(widening: sequence)
    }

    /// The sixteen bytes of the UUID in the order in which they are written.
    public var bytes: InlineArray<16, UInt8> {
        InlineArray { index in
            let half = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: half &>> shiftCount(56 - 8 * (index % 8)))
        }
    }
}
