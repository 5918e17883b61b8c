import CollarWire

/// A collar with a key, and the receiver with which it shares the key.
struct FuzzedCollar {
    /// The key.
    let key: [UInt8]
    /// The collar and its log.
    let log: LogIdentity
    /// The collar's receiver.
    let receiverID: UInt32
    /// The keys of the collar.
    let keys: NamedKeys
    /// The keys of a collar with the same device id and a key in which one bit differs.
    let keysOfOtherKey: NamedKeys
    /// A device id in which one bit differs.
    let otherDeviceID: DeviceID
    /// The keys of a collar with the same key and this device id.
    let keysOfOtherDevice: NamedKeys

    private let bootCount: UInt32
    private let firstCounter: UInt32
    private let counterStep: UInt32

    /// - Parameter place: tells the collar apart from others in the same stock.
    init(place: Int, random: inout SplitMix) {
        let key = (0..<CollarKey.byteCount).map { _ in random.byte() }
        self.key = key
        let deviceID = DeviceID(rawValue: random.next())
        log = LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: random.anyNumber()))
        receiverID = max(1, random.anyNumber())
        var otherKey = key
        otherKey[random.below(otherKey.count)] ^= 1 &<< UInt8(random.below(8))
        otherDeviceID = DeviceID(rawValue: deviceID.rawValue ^ 1 &<< UInt64(random.below(64)))
        keys = NamedKeys(SealingKeys(CollarKey(key.span), deviceID: deviceID), name: 3 * place)
        keysOfOtherKey = NamedKeys(SealingKeys(CollarKey(otherKey.span), deviceID: deviceID), name: 3 * place + 1)
        keysOfOtherDevice = NamedKeys(SealingKeys(CollarKey(key.span), deviceID: otherDeviceID), name: 3 * place + 2)
        bootCount = random.anyNumber()
        firstCounter = random.anyNumber()
        // With the last step all frames of the collar have the same low byte.
        counterStep = ([1, 1, 255, 256] as InlineArray<4, UInt32>)[random.below(4)]
    }

    /// The number of a sample. No other sample of the collar has it.
    func number(ofSlot slot: Int) -> FrameNumber {
        FrameNumber(bootCount: bootCount, counter: firstCounter &+ UInt32(slot) &* counterStep)
    }
}

/// Derived keys, and a name that no other keys of the same stock have.
struct NamedKeys {
    let keys: SealingKeys
    let name: Int

    init(_ keys: SealingKeys, name: Int) {
        self.keys = keys
        self.name = name
    }
}
