import CollarWire

/// A sealed frame with valid content, and the values that it was made from.
final class SealedSample {
    let type: MessageType
    /// The frame as it was sealed.
    let bytes: [UInt8]
    /// The clear frame.
    let clear: [UInt8]
    /// The values that open the frame.
    let presentation: Presentation
    /// Whether the frame is an absolute fix that holds its whole sequence.
    let isWide: Bool

    /// - Parameter number: the number of the frame, or of the frame whose poll it answers.
    init(_ type: MessageType, of collar: FuzzedCollar, number: FrameNumber, random: inout SplitMix) {
        let content = ClearFrame(type, of: collar, bootCount: number.bootCount, random: &random)
        self.type = type
        clear = content.bytes
        let own = Presentation(collar, number: number, binding: content.binding, poll: content.poll)
        let room = clear.count + SealedFrame.maximumOverheadByteCount + 1
        if type.isFromCollar {
            let isLong = type != .identity && random.oneIn(3)
            bytes = [UInt8](capacity: room) { output in
                for byte in content.bytes { output.append(byte) }
                SealedFrame.seal(
                    &output, number: number, isLong: isLong, binding: own.binding, log: own.log, keys: own.keys.keys)
            }
        } else {
            let index = UInt8(type == .acknowledgement ? 0 : 1 + random.below(2))
            let receiverID = content.receiverID ?? own.receiverID
            bytes = [UInt8](capacity: room) { output in
                for byte in content.bytes { output.append(byte) }
                SealedHostFrame.seal(
                    &output, poll: number, index: index, receiverID: receiverID, log: own.log, keys: own.keys.keys)
            }
        }
        presentation = own
        isWide = type == .absoluteFix && bytes[1] & SealedTypes.wideFlag != 0
    }
}
