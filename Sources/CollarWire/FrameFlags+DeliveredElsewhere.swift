extension FrameFlags {
    private static let deliveredElsewhereBit: UInt8 = 0b0000_1000

    /// Flags of a tombstone.
    /// - Parameter isDeliveredElsewhere: whether its ranges were acknowledged by a former receiver of the collar; else
    ///   they are lost.
    public init(ask: AskNumber?, isDeliveredElsewhere: Bool) {
        self.init(ask: ask)
        if isDeliveredElsewhere { rawValue |= FrameFlags.deliveredElsewhereBit }
    }

    /// Of a tombstone: whether its ranges were acknowledged by a former receiver of the collar.
    public var isDeliveredElsewhere: Bool { rawValue & FrameFlags.deliveredElsewhereBit != 0 }
}
