import CollarHost
import CollarWire

/// The rules for when a host may send, checked on the frames that its process receives and hands out.
struct AnswerDiscipline {
    /// How many frames with a poll were heard and not answered, by poll number.
    private var openPolls: [UInt8: Int] = [:]
    /// Frames with a poll that were heard recently: a frame that two radios hear is one poll.
    private var heardPolls: [(frame: [UInt8], radio: Int, time: Int64)] = []
    /// The receiver that the last identity of each collar named.
    private var receivers: [DeviceID: UInt32] = [:]
    /// When the last identity of each collar was heard; empty after a link was closed.
    private var identityTimes: [DeviceID: Int64] = [:]

    /// The longest time between copies of a frame from two radios, in microseconds.
    private static let copyTime: Int64 = 500_000

    /// A collar is in contact for at least this long after it was heard, whatever its heartbeat, in microseconds.
    private static let shortestContact: Int64 = 4_000_000

    /// The process accepts a frame.
    /// - Parameter clear: the clear form of the frame.
    mutating func accepts(_ frame: [UInt8], clear: [UInt8], on radio: Int, now: Int64) {
        do throws(DecodeError) {
            let header = try FrameHeader(clear.span)
            heardPolls.removeAll { now - $0.time > AnswerDiscipline.copyTime }
            let isCopy = heardPolls.contains { $0.frame == frame && $0.radio != radio }
            if let poll = header.flags.poll, !isCopy {
                openPolls[poll.rawValue, default: 0] += 1
                heardPolls.append((frame, radio, now))
            }
            guard header.type == .identity else { return }
            let identity = try Identity(decoding: clear.span)
            receivers[identity.log.deviceID] = identity.pairedReceiverID
            identityTimes[identity.log.deviceID] = now
        } catch {
            // Other rules judge frames that the process must not accept.
        }
    }

    /// A link was closed: no collar counts as in contact any more.
    mutating func linkClosed() { identityTimes = [:] }

    /// Why the process must accept a request that it refuses; nil if it may refuse the request.
    func reasonAgainst(_ refusal: RequestRefusal, isRadioOpen: Bool, now: Int64) -> String? {
        switch refusal {
        case .noRadio: return isRadioOpen ? "a radio is open" : nil
        case .noContact(let deviceID):
            guard let time = identityTimes[deviceID], now - time <= AnswerDiscipline.shortestContact else { return nil }
            return "the collar was heard \(now - time) µs ago"
        case .pairedElsewhere(let deviceID): return receivers[deviceID] ?? 0 == 0 ? "the collar has not named a receiver" : nil
        case .notPaired(let deviceID): return receivers[deviceID] == 0 ? nil : "the collar has not said that it has no receiver"
        case .unknownCollar(let deviceID, _): return receivers[deviceID] == nil ? nil : "the collar said who it is"
        case .noVersion: return "no honest receiver gives the last version"
        case .noCollar, .whichCollar, .queueFull, .unknownRequest, .storage: return nil
        }
    }

    /// The process hands out a frame to the collar of a log.
    /// - Returns: the rule that is broken; nil if none is.
    mutating func handsOut(_ frame: [UInt8], to log: LogIdentity, receiverID: UInt32) -> String? {
        let receiver = receivers[log.deviceID] ?? 0
        let isForeign = receiver != 0 && receiver != receiverID
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: log, reference: 0) {
            case .acknowledgement(let answer):
                if isForeign { return "answers a collar of receiver \(receiver)" }
                guard let poll = answer.poll?.rawValue, let count = openPolls[poll], count > 0 else {
                    return "answers poll \(answer.poll?.rawValue ?? 0), which is not open"
                }
                openPolls[poll] = count - 1
            case .command(let command):
                if case .pair = command.action { return nil }
                if isForeign { return "sends \(command.action) to a collar of receiver \(receiver)" }
            case .settings(let update):
                if isForeign { return "sends settings to a collar of receiver \(receiver)" }
                // All clocks of the world show less than 2^42 ms, so all versions of honest receivers are plausible.
                if !update.version.isPlausible(after: .defaults) { return "gives the version \(update.version.number)" }
            case .settingsRequest:
                if isForeign { return "sends a request to a collar of receiver \(receiver)" }
            default: break
            }
        } catch { return "sends what does not decode: \(error)" }
        return nil
    }
}
