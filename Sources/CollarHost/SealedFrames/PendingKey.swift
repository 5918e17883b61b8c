import CollarWire

/// A key that a collar has offered over a cable, and that it may have taken over (PROTOCOL.md, section 23).
struct PendingKey {
    let deviceID: UInt64
    let key: CollarKey
    let keys: SealingKeys

    init(deviceID: UInt64, key: CollarKey) {
        self.deviceID = deviceID
        self.key = key
        keys = SealingKeys(key, deviceID: deviceID)
    }
}
