import CollarWire

/// The sender, the number and the binding of a sealed frame that was opened.
struct OpenedFrame {
    let collar: CollarSession
    let log: LogSession
    /// The number of the frame.
    let number: FrameNumber
    /// The last three bytes of the frame, as it came.
    let digest: UInt32
    /// The sequence or the anchor with which the frame opened.
    let binding: SealedBinding
    /// Whether frames with higher numbers came before it. Its poll is not answered then.
    let isLate: Bool
}
