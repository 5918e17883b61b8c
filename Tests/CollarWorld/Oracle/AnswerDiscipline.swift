import CollarHost
import CollarWire

/// The rules for when a host may send, told from the frames that its process was given and gives out.
struct AnswerDiscipline {
    /// Asks that were heard and not answered, by number.
    private var openAsks: [UInt8: Int] = [:]
    /// Frames with an ask that were heard lately: one that two radios hear is one ask.
    private var heardAsks: [(frame: [UInt8], radio: Int, time: Int64)] = []
    /// The receiver that each collar named last.
    private var receivers: [UInt64: UInt32] = [:]
    /// When each collar said who it is, since a link was closed.
    private var identityTimes: [UInt64: Int64] = [:]

    /// Two radios tell of the same frame within this time, in microseconds.
    private static let copyTime: Int64 = 100_000

    /// A collar is in contact for this long after it was heard, whatever its heartbeat, in microseconds.
    private static let shortestContact: Int64 = 4_000_000

    /// The process accepts a frame.
    mutating func accepts(_ frame: [UInt8], on radio: Int, now: Int64) {
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            heardAsks.removeAll { now - $0.time > AnswerDiscipline.copyTime }
            let isCopy = heardAsks.contains { $0.frame == frame && $0.radio != radio }
            if let ask = header.flags.ask, !isCopy {
                openAsks[ask.rawValue, default: 0] += 1
                heardAsks.append((frame, radio, now))
            }
            guard header.type == .identity else { return }
            let identity = try Identity(decoding: frame.span)
            receivers[identity.log.deviceID] = identity.pairedReceiverID
            identityTimes[identity.log.deviceID] = now
        } catch {
            // What it may not accept is judged elsewhere.
        }
    }

    /// Whoever was heard there is not in contact any more.
    mutating func linkClosed() { identityTimes = [:] }

    /// Why the process must take a command that it refuses; nil where it may refuse it.
    func reasonAgainst(_ refusal: CommandRefusal, isRadioOpen: Bool, now: Int64) -> String? {
        switch refusal {
        case .noRadio: return isRadioOpen ? "a radio is open" : nil
        case .noContact(let deviceID):
            guard let time = identityTimes[deviceID], now - time <= AnswerDiscipline.shortestContact else { return nil }
            return "the collar was heard \(now - time) µs ago"
        case .pairedElsewhere(let deviceID): return receivers[deviceID] ?? 0 == 0 ? "the collar has not named a receiver" : nil
        case .unknownCollar(let deviceID, _): return receivers[deviceID] == nil ? nil : "the collar said who it is"
        case .noCollar, .whichCollar, .queueFull, .noVersion, .unknownRequest, .storage: return nil
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
