import CollarWire

/// Opens sealed frames as a receiver does.
struct SealedOpener {
    /// The result of opening a frame.
    enum Result {
        /// It has no header of a sealed frame, or is too short; its tag was not compared.
        case refused
        /// It did not open.
        case notOpened
        /// It opened; ``SealedOpener/clear`` holds the clear frame.
        case open
    }

    /// The clear form of the frame that was opened last; empty if it did not open.
    private(set) var clear: [UInt8] = []
    /// The number of that frame if it was an identity.
    private(set) var number: FrameNumber?

    init() { clear.reserveCapacity(Frame.maximumByteCount) }

    /// Opens a frame.
    /// - Parameters:
    ///   - presentation: the values with which the receiver tries to open the frame.
    ///   - given: the type of which the frame is taken to be; nil for the type in its header.
    mutating func open(_ frame: Span<UInt8>, as presentation: Presentation, type given: MessageType?) -> Result {
        clear.removeAll(keepingCapacity: true)
        number = nil
        let header: FrameHeader
        do throws(DecodeError) { header = try FrameHeader(ofAny: frame) } catch { return .refused }
        guard let type = given ?? header.type else { return .refused }
        var isOpen = false
        var found: FrameNumber?
        clear.append(addingCapacity: Frame.maximumByteCount) { output in
            if type == .identity {
                found = SealedFrame.openIdentity(
                    frame, header: header, deviceID: presentation.log.deviceID, keys: presentation.keys.keys,
                    into: &output)
                isOpen = found != nil
            } else if type.isFromCollar {
                isOpen = SealedFrame.open(
                    frame, header: header, type: type, number: presentation.number, binding: presentation.binding,
                    log: presentation.log, keys: presentation.keys.keys, into: &output)
            } else {
                isOpen = SealedHostFrame.open(
                    frame, header: header, type: type, poll: presentation.number, pollNumber: presentation.poll,
                    receiverID: presentation.receiverID, log: presentation.log, keys: presentation.keys.keys,
                    into: &output)
            }
        }
        number = found
        if isOpen { return .open }
        guard let start = SealedTypes.cipherStart(type, flags: header.flags.rawValue),
            frame.count >= start + SealedTypes.tagByteCount(type)
        else { return .refused }
        return .notOpened
    }
}
