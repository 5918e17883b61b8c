import CollarWire
import Testing

extension Vector {
    /// The bare frame; nil if the vector has only a serial form.
    var bare: [UInt8]? { get throws { try contents.bare.map(bytes) } }

    /// The bytes on a serial line; nil if the vector has only a bare frame.
    var serial: [UInt8]? { get throws { try contents.serial.map(bytes) } }

    /// The log to which the CRC is bound; nil for a frame that is not bound.
    var log: LogIdentity? {
        get throws {
            guard let device = contents.deviceID, let logID = contents.logID else { return nil }
            let deviceID = try #require(UInt64(device, radix: 16))
            let log = try #require(LogIdentity(deviceID: deviceID, logID: logID))
            return log
        }
    }

    private func bytes(hexadecimal text: String) throws -> [UInt8] {
        let digits = try text.map { try #require($0.hexDigitValue) }
        try #require(digits.count.isMultiple(of: 2))
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(16 * digits[$0] + digits[$0 + 1]) }
    }
}
