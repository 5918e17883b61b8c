import CollarWire

/// The targets that need nothing but the codec and the firmware. A new target needs a file in Targets and a line here. A new type of message
/// has a target already.
public func portableTargets() -> [any FuzzTarget] {
    let types = (0..<32 as Range<UInt8>).compactMap(MessageType.init).filter { $0 != .liveFix }
    return [StreamTarget(), MessageTarget(nil)] + types.map { MessageTarget($0) }
        + [LiveTarget(), RoundTripTarget(), SealedTarget(), UBXTarget(), NMEATarget(), GNSSReceiverTarget()]
}
