import CollarWire

/// Where a frame in its clear form comes from, if it came in sealed.
struct OpenedFrame {
    let collar: CollarSession
    let log: LogSession
    /// The number of the frame.
    let number: FrameNumber
    /// The sequence or the anchor with which the frame opened.
    let binding: SealedBinding
    /// Whether frames with higher numbers came before it. Such a frame is not answered.
    let isLate: Bool
}
