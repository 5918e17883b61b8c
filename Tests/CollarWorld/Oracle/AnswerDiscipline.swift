import CollarWire

/// The rules for when a host may send, told from the frames that its process was given and gives out.
struct AnswerDiscipline {
    /// Asks that were heard and not answered, by number.
    private var openAsks: [UInt8: Int] = [:]
    /// The receiver that each collar named last.
    private var receivers: [UInt64: UInt32] = [:]

    /// The process accepts a frame.
    mutating func accepts(_ frame: [UInt8]) {
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            if let ask = header.flags.ask { openAsks[ask.rawValue, default: 0] += 1 }
            guard header.type == .identity else { return }
            let identity = try Identity(decoding: frame.span)
            receivers[identity.log.deviceID] = identity.pairedReceiverID
        } catch {
            // What it may not accept is judged elsewhere.
        }
    }

    /// The process hands out a frame to the collar of a log.
    /// - Returns: what is wrong with that.
    mutating func handsOut(_ frame: [UInt8], to log: LogIdentity, receiverID: UInt32) -> String? {
        let receiver = receivers[log.deviceID] ?? 0
        let isForeign = receiver != 0 && receiver != receiverID
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: log, reference: 0) {
            case .acknowledgement(let answer):
                if isForeign { return "answers a collar of receiver \(receiver)" }
                guard let ask = answer.ask?.rawValue, let count = openAsks[ask], count > 0 else {
                    return "answers ask \(answer.ask?.rawValue ?? 0), which is not open"
                }
                openAsks[ask] = count - 1
            case .command(let command):
                if case .pair = command.order { return nil }
                if isForeign { return "sends \(command.order) to a collar of receiver \(receiver)" }
            case .settings, .settingsRequest:
                if isForeign { return "sends an order to a collar of receiver \(receiver)" }
            default: break
            }
        } catch { return "sends what does not decode: \(error)" }
        return nil
    }
}
