import CollarARQ
import CollarJournal
import CollarWire

/// What one receiver spends on those it hears, whatever they send.
enum ReceiverLimits {
    /// Journals that are opened for collars heard before; each costs two descriptors and some 10 KiB.
    static let knownCollarCount = 256
    /// A collar not heard before is taken up while fewer than this many have a journal. So those who invent collars
    /// fill neither the memory nor the state directory, however often the receiver is started.
    static let collarCount = 64
    /// A sequence that is this far above the highest one known is a jump: 194 days of a fix a second.
    static let sequenceJump: UInt32 = 1 << 24
    /// Answers that a newly stored fix or loss earns its collar: enough where nine of ten frames and answers are lost.
    static let answersPerRecord = 16

    /// New collars: sixteen at once, then one a second.
    static var newCollars: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 1_000_000) }
    /// Answers to a collar that brings nothing new.
    static var idleAnswers: TokenBucket { TokenBucket(capacity: 256, microsecondsPerToken: 100_000) }
    /// Questions at a port to those who ask and are not known. Each frame of a known collar earns one more: beside many of
    /// them most that ask are its own, with a damaged address.
    static var identityRequests: TokenBucket { TokenBucket(capacity: 32, microsecondsPerToken: 250_000) }
    /// Losses of one collar that are reported one by one.
    static var reportedLosses: TokenBucket { TokenBucket(capacity: 16, microsecondsPerToken: 15_000_000) }
}

extension Receiver {
    /// Says what a collar does wrong, unless that was said within the last minute.
    func report(_ misbehaviour: Misbehaviour, of collar: CollarSession) {
        guard collar.misbehaviourNotices.isDue(misbehaviour.kind, at: now) else { return }
        report(.misbehaving(deviceID: collar.deviceID, misbehaviour))
    }

    /// Whether a collar that was not heard before may be taken up; says so where it may not.
    func mayTakeUp(_ deviceID: UInt64, onPort port: Int) -> Bool {
        let refusal: CollarRefusal
        if collars.count + unavailableCollars.count >= ReceiverLimits.collarCount {
            refusal = .tooManyCollars(limit: ReceiverLimits.collarCount)
        } else if newCollars.take(at: now) {
            return true
        } else {
            refusal = .tooManyAtOnce
        }
        if refusalNotices.isDue(refusal, at: now) {
            report(.collarRefused(deviceID: deviceID, path: ports[port].path, refusal))
        }
        return false
    }

    /// A frame tells that a log has this sequence.
    func learned(of sequence: UInt32, collar: CollarSession, log: Int) {
        let highest = collar.deliveries[log].highestSequence
        if sequence > highest, sequence - highest > ReceiverLimits.sequenceJump,
            highest > 0 || collar.journal.highestSequence(logID: collar.deliveries[log].log.logID) != nil
        {
            report(.sequenceJump(from: highest, to: sequence), of: collar)
        }
        collar.deliveries[log].learned(of: sequence)
    }

    /// A fix came whose sequence is covered already.
    func receivedAgain(_ fix: Fix, collar: CollarSession, logID: UInt32) {
        statistics.duplicates += 1
        collar.duplicateCount += 1
        if let first = collar.recentFix(fix.sequence, logID: logID), first != fix {
            report(.otherContent(sequence: fix.sequence), of: collar)
        }
    }

    /// Says that fixes will never come, while a collar does not tell of too many such losses.
    func reportLoss(of range: SequenceRange, reason: LossReason, collar: CollarSession) {
        guard collar.reportedLosses.take(at: now) else {
            report(.tooManyLosses, of: collar)
            return
        }
        switch reason {
        case .deliveredElsewhere:
            report(.deliveredElsewhere(deviceID: collar.deviceID, first: range.first, last: range.last))
        case .overwritten, .givenUp:
            report(.lost(deviceID: collar.deviceID, first: range.first, last: range.last))
        }
    }
}
