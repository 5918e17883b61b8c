import CollarWire

/// The pieces of a fix line that are the same for every fix of one log; they are made once for each log.
struct LogLineBytes {
    let deviceID: UInt64
    let logID: UInt32
    /// The fix's UUID without its last eight digits, which are the sequence.
    let identifierHead: InlineBytes
    /// The key `collar` with its value.
    let collar: InlineBytes
    /// The key `log` with its value, and the key that follows.
    let log: InlineBytes

    init(deviceID: UInt64, logID: UInt32) {
        self.deviceID = deviceID
        self.logID = logID
        // The log id is cut to 26 bits for both the identifier and the text, so that the two always agree.
        let shownLogID = logID & LogIdentity.maximumLogID
        let identifier = FixIdentifier(deviceID: deviceID, logID: shownLogID, sequence: 0)
        identifierHead = InlineBytes(String(identifier.text.dropLast(8)))
        collar = InlineBytes(",\"collar\":\"" + MessageDescription.hexadecimal(deviceID) + "\"")
        log = InlineBytes(",\"log\":\(shownLogID),\"rx_unix_ms\":")
    }
}
