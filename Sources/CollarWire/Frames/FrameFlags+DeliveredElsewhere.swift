extension FrameFlags {
    private static let deliveredElsewhereBit: UInt8 = 0b0000_1000

    /// Flags of a tombstone. `isDeliveredElsewhere` tells whether a former receiver of the collar acknowledged the fixes that the
    /// tombstone names; if not, these fixes are lost.
    public init(poll: PollNumber?, isDeliveredElsewhere: Bool) {
        self.init(poll: poll)
        if isDeliveredElsewhere { rawValue |= FrameFlags.deliveredElsewhereBit }
    }

    /// In a tombstone: whether a former receiver of the collar acknowledged the fixes that the tombstone names.
    public var isDeliveredElsewhere: Bool { rawValue & FrameFlags.deliveredElsewhereBit != 0 }
}
