import CollarARQ
import CollarJournal
import CollarSimulator
import CollarWire
import Testing

/// The smallest receiver: what came in is volatile until it commits, and a crash loses what is volatile.
struct TestHost {
    /// What a receiver has on disk.
    struct Disk {
        var fixes: [UInt32: Fix] = [:]
        var gone: Set<UInt32> = []
        var covered = CoveredSequences()
        var log: LogIdentity?
    }

    private(set) var disk = Disk()
    private var fresh: [UInt32: Fix] = [:]
    private var freshlyGone: Set<UInt32> = []
    private var log: LogIdentity?
    private var delivery: HostDelivery?
    private var stream = StreamDecoder()
    private var isStranger = false
    private(set) var conflicts: [UInt32] = []
    private(set) var duplicates = 0
    /// Everything the collar was told to be durable.
    private(set) var promised = CoveredSequences()

    private mutating func introduce(_ log: LogIdentity) {
        self.log = log
        guard delivery == nil else { return }
        delivery = HostDelivery(log: log, receiverID: 77, highestSequence: disk.covered.highest ?? 0)
    }

    /// Serial bytes from the base radio.
    mutating func received(_ bytes: [UInt8]) {
        var index = 0
        while let event = stream.next(in: bytes.span, at: &index) {
            guard case .frame = event else { continue }
            do throws(DecodeError) { try received(frame: copyOfFrame) } catch {}
        }
    }

    private var copyOfFrame: [UInt8] {
        let span = stream.frame
        return span.indices.map { span[$0] }
    }

    private mutating func received(frame: [UInt8]) throws(DecodeError) {
        let header = try FrameHeader(frame.span)
        let message: Message
        do throws(DecodeError) {
            message = try Message.decode(frame.span, log: log, reference: delivery?.highestSequence ?? 0)
        } catch {
            if log == nil, header.flags.ask != nil { isStranger = true }
            throw error
        }
        switch message {
        case .identity(let identity):
            introduce(identity.log)
            isStranger = false
            if identity.nextSequence > 0 { delivery?.learned(of: identity.nextSequence - 1) }
        case .fix(let fix): store(fix)
        case .tombstone(let tombstone):
            for index in 0..<tombstone.ranges.count {
                for sequence in tombstone.ranges[index].first...tombstone.ranges[index].last
                where disk.fixes[sequence] == nil && fresh[sequence] == nil { freshlyGone.insert(sequence) }
            }
        case .probe:
            if log == nil { isStranger = true }
        default: return
        }
        delivery?.received(flags: header.flags)
    }

    private mutating func store(_ fix: Fix) {
        delivery?.learned(of: fix.sequence)
        if let known = disk.fixes[fix.sequence] ?? fresh[fix.sequence] {
            duplicates += 1
            if known != fix { conflicts.append(fix.sequence) }
            return
        }
        fresh[fix.sequence] = fix
    }

    /// Makes everything durable.
    mutating func commit() {
        disk.log = log
        disk.fixes.merge(fresh) { old, _ in old }
        for sequence in fresh.keys { disk.covered.insert(sequence) }
        for sequence in freshlyGone { disk.covered.insert(sequence) }
        disk.gone.formUnion(freshlyGone)
        fresh = [:]
        freshlyGone = []
    }

    /// Loses what is not durable, and starts again.
    mutating func crash() {
        fresh = [:]
        freshlyGone = []
        stream = StreamDecoder()
        isStranger = false
        log = nil
        delivery = nil
        if let known = disk.log { introduce(known) }
    }

    /// Damage takes durable fixes away.
    mutating func loseDurable(_ isLost: (UInt32) -> Bool) {
        let kept = disk.fixes.keys.filter { !isLost($0) }
        var covered = CoveredSequences()
        for sequence in kept { covered.insert(sequence) }
        for sequence in disk.gone { covered.insert(sequence) }
        covered.announce(below: disk.covered.announcedEnd)
        disk.fixes = disk.fixes.filter { !isLost($0.key) }
        disk.covered = covered
    }

    var isSomethingLost: Bool { disk.covered.oldestLostRange(from: 0) != nil }

    /// Serial bytes of the answer that is wanted, if one is.
    mutating func answer() -> [UInt8]? {
        if let log, let answer = delivery?.takeAnswer(from: disk.covered) {
            disk.covered.announce()
            if answer.firstMissing > 0, let range = SequenceRange(0, answer.firstMissing - 1) { promised.insert(range) }
            for index in 0..<answer.durable.count { promised.insert(answer.durable[index]) }
            return serial { output in
                do throws(EncodeError) { try answer.encode(address: 9, log: log, into: &output) } catch {
                    Issue.record("an answer that cannot be written: \(error)")
                }
            }
        }
        guard isStranger else { return nil }
        isStranger = false
        return serial { output in
            do throws(EncodeError) {
                try IdentityRequest(receiverID: 77).encode(address: Frame.broadcastAddress, into: &output)
            } catch { Issue.record("a question that cannot be written: \(error)") }
        }
    }

    private func serial(_ write: (inout OutputSpan<UInt8>) -> Void) -> [UInt8] {
        let frame = [UInt8](capacity: Frame.maximumByteCount, initializingWith: write)
        return [UInt8](capacity: StreamEncoder.encodedByteCount(for: frame.count)) { output in
            StreamEncoder.encode(frame.span, into: &output)
        }
    }
}
