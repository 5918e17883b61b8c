import CollarWire

/// Leaves frames as they are, as a collar without a key does. A sealed frame does not open.
struct Protection {
    init(deviceID: DeviceID) {}

    func seal(_ frame: inout OutputSpan<UInt8>, _ binding: SealedBinding, log: LogIdentity) {}

    func open(
        _ sealed: Span<UInt8>, header: FrameHeader, type: MessageType, log: LogIdentity, into output: inout OutputSpan<UInt8>
    ) -> Bool { false }
}
