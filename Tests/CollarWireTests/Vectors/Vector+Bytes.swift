import CollarWire
import Testing

extension Vector {
    /// The bare frame; nil if the vector has only a serial form.
    var bare: [UInt8]? { get throws { try contents.bare.map([UInt8].init(hexadecimal:)) } }

    /// The bytes on a serial line; nil if the vector has only a bare frame.
    var serial: [UInt8]? { get throws { try contents.serial.map([UInt8].init(hexadecimal:)) } }

    /// The log to which the CRC is bound; nil for a frame that is not bound.
    var log: LogIdentity? {
        get throws {
            guard let device = contents.deviceID, let logID = contents.logID else { return nil }
            let deviceID = try #require(UInt64(device, radix: 16))
            let log = try #require(LogIdentity(deviceID: deviceID, logID: logID))
            return log
        }
    }
}
