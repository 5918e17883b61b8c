/// The fields with which an ``Identity`` and a ``KeyOffer`` begin: device id (64 bits), log id (26), zero (6; ignored by a receiver),
/// boot count (32).
extension BitWriter {
    /// Writes the collar, its log and its boot count.
    mutating func write(_ log: LogIdentity, bootCount: UInt32) {
        write(wide: log.deviceID)
        write(log.logID &<< 6, 32)
        write(bootCount, 32)
    }
}

extension BitReader {
    /// Reads the collar, its log and its boot count.
    @_lifetime(self: copy self)
    mutating func readLog() -> (log: LogIdentity, bootCount: UInt32) {
        let deviceID = readWide()
        guard let log = LogIdentity(deviceID: deviceID, logID: read(26)) else { preconditionFailure("26 bits are a log id") }
        _ = read(6)
        return (log, read(32))
    }
}
