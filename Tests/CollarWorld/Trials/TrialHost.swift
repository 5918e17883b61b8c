import CollarARQ
import CollarJournal
import CollarWire

/// A host's end that stores in memory and at once, for trials in which nothing damages a frame.
struct TrialHost {
    /// In whose name it answers.
    static let receiverID: UInt32 = 5

    private let log: LogIdentity
    private var delivery: HostDelivery
    private var anchors: [UInt32: Fix] = [:]
    /// What it holds.
    private(set) var stored = CoveredSequences()

    init(log: LogIdentity) {
        self.log = log
        delivery = HostDelivery(log: log, receiverID: TrialHost.receiverID, highestSequence: 0)
    }

    /// The highest sequence the host knows of.
    var highestSequence: UInt32 { delivery.highestSequence }

    /// Stores what a frame carries.
    mutating func take(_ frame: [UInt8]) {
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            delivery.received(flags: header.flags)
            if header.type == .liveFix {
                let named = LiveFix.sequences(of: frame.span, header: header, reference: delivery.highestSequence)
                guard let named, let anchor = anchors[named.anchor] else { return }
                store(try LiveFix.decode(frame.span, sequence: named.sequence, anchor: anchor, log: log))
                return
            }
            let message = try Message.decode(frame.span, log: log, reference: delivery.highestSequence)
            if case .fix(let fix) = message { store(fix) }
            if case .batch(let batch) = message { batch.forEach { store($0) } }
            if case .identity(let identity) = message, identity.nextSequence > 0 {
                delivery.learned(of: identity.nextSequence - 1)
            }
        } catch { preconditionFailure("nothing damages a frame here: \(error)") }
    }

    private mutating func store(_ fix: Fix) {
        _ = stored.insert(fix.sequence)
        anchors[fix.sequence] = fix
        delivery.learned(of: fix.sequence)
    }

    /// The frame of the answer that is wanted; nil where none is.
    mutating func answer() -> [UInt8]? {
        guard let answer = delivery.takeAnswer(from: stored) else { return nil }
        return [UInt8](capacity: Frame.maximumByteCount) { output in
            do throws(EncodeError) { try answer.encode(address: 9, log: log, into: &output) } catch {
                preconditionFailure("an answer fits a frame: \(error)")
            }
        }
    }
}
