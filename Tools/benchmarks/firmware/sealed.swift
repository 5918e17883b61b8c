import CollarWire

/// The number of the next sealed frame.
nonisolated(unsafe) private var number = FrameNumber(bootCount: 0, counter: 0)

/// Seals and opens frames, as a collar with a key does.
struct Protection {
    private let keys: SealingKeys

    init(deviceID: DeviceID) {
        let key: InlineArray<16, UInt8> = .init { _ in UInt8(truncatingIfNeeded: inputWord()) }
        keys = SealingKeys(CollarKey(key.span), deviceID: deviceID)
        number.bootCount = inputWord()
    }

    func seal(_ frame: inout OutputSpan<UInt8>, _ binding: SealedBinding, log: LogIdentity) {
        SealedFrame.seal(&frame, number: number, isLong: inputWord() == 0, binding: binding, log: log, keys: keys)
        number.counter &+= 1
    }

    func open(
        _ sealed: Span<UInt8>, header: FrameHeader, type: MessageType, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) -> Bool {
        SealedHostFrame.open(
            sealed, header: header, type: type, poll: number, pollNumber: .first, receiverID: 1, log: log, keys: keys,
            into: &output)
    }
}
