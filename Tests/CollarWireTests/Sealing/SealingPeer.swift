import CollarWire

/// The values that both ends of a sealed frame share.
struct SealingPeer {
    var log: LogIdentity = .sample
    var number = FrameNumber(bootCount: 12, counter: 0x01_0203)
    var isLong = false
    var binding = SealedBinding.none
    var receiverID: UInt32 = 0x1234_5678
    var index: UInt8 = 0
    var poll = PollNumber(rawValue: 3)
    var key: [UInt8] = (0..<16).map { 0xA0 + $0 }

    var keys: SealingKeys { SealingKeys(CollarKey(key.span), deviceID: log.deviceID) }

    /// The receiver that sends a frame: the one that the frame names, or the collar's.
    private func sender(of clear: [UInt8]) -> UInt32 {
        let start: Int? = switch MessageType(rawValue: clear[0] & 0x1F) {
        case .acknowledgement: 4
        case .command, .hostMessage: 6
        default: nil
        }
        guard let start else { return receiverID }
        return clear[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The sealed form of a clear frame.
    func sealed(_ clear: [UInt8]) -> [UInt8] {
        let sender = sender(of: clear)
        return [UInt8](capacity: clear.count + 8) { output in
            for byte in clear { output.append(byte) }
            if MessageType(rawValue: clear[0] & 0x1F)?.isFromCollar == true {
                SealedFrame.seal(&output, number: number, isLong: isLong, binding: binding, log: log, keys: keys)
            } else {
                SealedHostFrame.seal(&output, poll: number, index: index, receiverID: sender, log: log, keys: keys)
            }
        }
    }

    /// The clear form of a sealed frame; nil if it does not open.
    func opened(_ frame: [UInt8]) -> [UInt8]? {
        guard let header = try? FrameHeader(ofAny: frame.span), let type = header.type else { return nil }
        var isOpen = false
        let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
            if type == .identity {
                let found = SealedFrame.openIdentity(
                    frame.span, header: header, deviceID: log.deviceID, keys: keys, into: &output)
                isOpen = found == number
            } else if type.isFromCollar {
                isOpen = SealedFrame.open(
                    frame.span, header: header, type: type, number: number, binding: binding, log: log, keys: keys,
                    into: &output)
            } else {
                isOpen = SealedHostFrame.open(
                    frame.span, header: header, type: type, poll: number, pollNumber: poll, receiverID: receiverID,
                    log: log, keys: keys, into: &output)
            }
        }
        return isOpen ? clear : nil
    }
}
