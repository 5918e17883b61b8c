import CollarWire

/// The pieces of a fix line that are the same for every fix of one collar's log, made once.
struct CollarTexts {
    let deviceID: UInt64
    let logID: UInt32
    /// All of the fix's UUID but its last eight digits, which are the sequence.
    let identifierHead: ShortText
    /// The key `collar` with its value.
    let collar: ShortText
    /// The key `log` with its value, and the key that follows.
    let log: ShortText

    init(deviceID: UInt64, logID: UInt32) {
        self.deviceID = deviceID
        self.logID = logID
        // 26 bits in the identifier and in the text, so that both always agree.
        let shownLogID = logID & LogIdentity.maximumLogID
        let identifier = FixIdentifier(deviceID: deviceID, logID: shownLogID, sequence: 0)
        let first = MessageText.hexadecimal(identifier.high)
        let second = MessageText.hexadecimal(identifier.low)
        let groups = [first.prefix(8), first.dropFirst(8).prefix(4), first.suffix(4), second.prefix(4)]
        identifierHead = ShortText(groups.joined(separator: "-") + "-" + second.dropFirst(4).prefix(4))
        collar = ShortText(",\"collar\":\"" + MessageText.hexadecimal(deviceID) + "\"")
        log = ShortText(",\"log\":\(shownLogID),\"rx_unix_ms\":")
    }
}
