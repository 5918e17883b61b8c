import CollarARQ
import CollarWire

/// Frames with the contents of the log.
extension Collar {
    @inline(never) mutating func encodeLiveFix(
        _ sequence: UInt32, anchor: UInt32, flags: FrameFlags, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) {
        guard let fix = try fixLog.fix(sequence, in: &flash), let anchor = try newestFix(below: sequence, from: anchor) else {
            return try encodeLogEntry(sequence, flags: flags, into: &output)
        }
        do throws(EncodeError) {
            try LiveFix.encode(fix, anchor: anchor, address: configuration.address, flags: flags, log: log, into: &output)
        } catch { output.removeAll() }
        guard output.count > 0, isRoomToSeal(output) else {
            // The fix differs so much from its anchor that the absolute form is shorter.
            output.removeAll()
            return try encodeLogEntry(sequence, flags: flags, into: &output)
        }
        frameBinding = .anchor(anchor)
        fixesSentCount &+= 1
    }

    /// The highest acknowledged fix that is not above `highest`; nil if it cannot be the anchor of `sequence`, or if anything but
    /// at most eight messages lies above it, up to `highest`.
    @inline(never) private mutating func newestFix(below sequence: UInt32, from highest: UInt32) throws(FlashError) -> Fix? {
        var candidate = highest
        for _ in 0...8 {
            switch try fixLog.entry(candidate, in: &flash) {
            case .fix(let fix): return fix
            case .message: break
            case nil: return nil
            }
            guard candidate > 0, sequence - candidate < LiveFix.maximumLead, delivery.delivered.contains(candidate - 1) else {
                return nil
            }
            candidate -= 1
        }
        return nil
    }

    @inline(never) mutating func encodeBatch(
        from first: UInt32, frameByteLimit: Int, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) {
        let fix: Fix
        switch try fixLog.entry(first, in: &flash) {
        case .fix(let found): fix = found
        case .message(let message):
            encode(message, first, flags: FrameFlags(poll: delivery.sentAlone(first)), into: &output)
            return
        case nil:
            let gone = SequenceRange(first, lastMissing(from: first)) ?? SequenceRange(first)
            encodeTombstone(of: gone, poll: delivery.tombstoned(through: gone.last), into: &output)
            return
        }
        let sent = try encodeBatch(startingWith: fix, frameByteLimit: frameByteLimit, flags: FrameFlags(poll: nil), into: &output)
        fixesSentCount &+= sent.count
        guard let poll = delivery.batched(through: sent.last) else { return }
        var frame = output.mutableSpan
        FrameCRC.seal(&frame, flags: FrameFlags(poll: poll), log: log)
    }

    /// Encodes the newest fixes in one frame. The newest one must be in the frame: older ones are left out if one of them is torn
    /// or they do not all fit.
    @inline(never) mutating func encodeNewestFixes(
        from first: UInt32, through newest: UInt32, frameByteLimit: Int, flags: FrameFlags,
        into output: inout OutputSpan<UInt8>
    ) throws(FlashError) {
        var first = first
        while first < newest {
            if let fix = try fixLog.fix(first, in: &flash) {
                let sent = try encodeBatch(startingWith: fix, frameByteLimit: frameByteLimit, flags: flags, into: &output)
                if sent.last == newest {
                    fixesSentCount &+= sent.count
                    return delivery.sentNewest(from: first, through: newest)
                }
                output.removeAll()
            }
            first = delivery.undelivered(after: first) ?? newest
        }
        delivery.sentNewest(from: newest, through: newest)
        try encodeLogEntry(newest, flags: flags, into: &output)
    }

    /// Encodes as many fixes as fit, and stops before a sequence of which the log has no fix.
    /// - Returns: the sequence of the last fix, and the number of fixes.
    @inline(never) private mutating func encodeBatch(
        startingWith fix: Fix, frameByteLimit: Int, flags: FrameFlags, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) -> (last: UInt32, count: UInt32) {
        var offered = fix.sequence
        var failure: FlashError?
        var count = 0
        do throws(EncodeError) {
            count = try Batch.encode(
                fix, address: configuration.address, flags: flags, log: log, frameByteLimit: frameByteLimit,
                into: &output
            ) {
                guard let sequence = delivery.undelivered(after: offered) else { return nil }
                offered = sequence
                // A sequence without a fix ends the batch; the next frame is the message or the tombstone.
                do throws(FlashError) { return try fixLog.fix(sequence, in: &flash) } catch {
                    failure = error
                    return nil
                }
            }
        } catch { preconditionFailure("a logged fix fits the smallest frame") }
        if let failure {
            output.removeAll()
            throw failure
        }
        var last = fix.sequence
        for _ in 1..<count { last = delivery.undelivered(after: last) ?? last }
        return (last, UInt32(truncatingIfNeeded: count))
    }

    @inline(never) mutating func encodeLogEntry(
        _ sequence: UInt32, flags: FrameFlags, into output: inout OutputSpan<UInt8>
    ) throws(FlashError) {
        let entry = try fixLog.entry(sequence, in: &flash)
        do throws(EncodeError) {
            switch entry {
            case .fix(let fix):
                let isNear = nextSequence - firstUndelivered < 32_768
                try AbsoluteFix.encode(
                    fix, address: configuration.address, flags: flags, log: log,
                    reference: isNear ? nextSequence - 1 : nil, into: &output)
                frameBinding = .sequence(fix.sequence)
                fixesSentCount &+= 1
            case .message(let message): encode(message, sequence, flags: flags, into: &output)
            case nil:
                let gone = SequenceRange(sequence, lastMissing(from: sequence)) ?? SequenceRange(sequence)
                delivery.skippedBacklog(from: gone.first, through: gone.last)
                encodeTombstone(of: gone, poll: flags.poll, into: &output)
            }
        } catch { preconditionFailure("a logged fix fits the smallest frame") }
    }

    @inline(never) private mutating func encode(
        _ message: ApplicationMessage, _ sequence: UInt32, flags: FrameFlags, into output: inout OutputSpan<UInt8>
    ) {
        do throws(EncodeError) {
            try CollarMessage(sequence: sequence, content: message).encode(
                address: configuration.address, flags: flags, log: log, into: &output)
        } catch { preconditionFailure("a logged message fits the smallest frame") }
    }

    @inline(never) private mutating func encodeTombstone(of gone: SequenceRange, poll: PollNumber?, into output: inout OutputSpan<UInt8>) {
        let flags = FrameFlags(poll: poll, isDeliveredElsewhere: gone.last < formerlyDelivered)
        var ranges = SequenceRangeList()
        ranges.append(gone)
        do throws(EncodeError) {
            try Tombstone(ranges: ranges).encode(address: configuration.address, flags: flags, log: log, into: &output)
        } catch { preconditionFailure("a tombstone fits the smallest frame") }
    }

    /// The last sequence of the missing range that starts at `sequence`, as far as one tombstone can report it. An overwritten
    /// range is cut before `formerlyDelivered`, because a tombstone reports either all its fixes as delivered elsewhere or all as
    /// lost. A torn slot is a range of its own.
    private mutating func lastMissing(from sequence: UInt32) -> UInt32 {
        if sequence < formerlyDelivered, formerlyDelivered < fixLog.oldestSequence { return formerlyDelivered - 1 }
        return sequence < fixLog.oldestSequence ? fixLog.oldestSequence - 1 : sequence
    }
}
