import CollarWire

/// One record of a segment: kind (1 byte), fields, check (3 bytes); at most 253 bytes. On the disk it stands in the
/// byte stuffing of the wire between two zero bytes, so that reading falls into step again behind any damage.
///
/// Kinds that are not named here are left for later versions and skipped by this one.
enum Record: Equatable {
    case header(SegmentHeader)
    case fix(JournaledFix)
    case loss(JournaledLoss)
    case covered(CoveredPart)
    case lost(LostPart)
    case closed([UInt32])
    case checkpointEnd(CheckpointEnd)
    case progress(Progress)
    case cursor(JournalPosition)
    case uncovered(UncoveredRange)
    case repaired(segment: UInt32, DamageExtent)
    case later(kind: UInt8)

    enum Kind: UInt8 {
        case header = 1
        case fix = 2
        case loss = 3
        case covered = 4
        case checkpointEnd = 5
        case progress = 6
        case cursor = 7
        case uncovered = 8
        case repaired = 9
        case lost = 10
        case closed = 11
    }
}

/// The first record of a segment. Its check is bound to nothing, so that a tool can tell whose a stray file is.
struct SegmentHeader: Equatable {
    static let currentFormat: UInt8 = 1

    var format = currentFormat
    var deviceID: UInt64
    var receiverID: UInt32
    var segment: UInt32
    var createdUnixMilliseconds: Int64
}

/// What a segment begins with.
struct Checkpoint {
    /// What is covered, by log.
    var logs: [(UInt32, CoveredSequences)]
    /// Logs of which nothing more is stored.
    var closedLogIDs: Set<UInt32>
    /// Damage that was dealt with, by the first of its segments.
    var repaired: [UInt32: DamageExtent]
    /// Up to where lines were handed over.
    var cursor: JournalPosition
}

/// A part of what is covered of one log when a segment begins.
struct CoveredPart: Equatable {
    /// So many fit the largest record.
    static let maximumRangeCount = 29

    var logID: UInt32
    var announcedEnd: UInt32
    var ranges: [SequenceRange]
}

/// A part of what of one log is covered and lost when a segment begins. These come before the parts of what is covered.
struct LostPart: Equatable {
    var logID: UInt32
    var ranges: [SequenceRange]
}

/// Ends the checkpoint at the start of a segment. Without it, or with other counts, the checkpoint is not complete.
struct CheckpointEnd: Equatable {
    /// Parts of what is covered, and of the logs that are closed.
    var partCount: UInt32
    var cursor: JournalPosition
    /// Absent in older journals, whose checkpoints do not tell losses from fixes.
    var lostPartCount: UInt32 = 0
}

/// What is covered of a log when a commit ends, and so is about to be announced. Where reading finds less, a record
/// before it has been damaged.
struct Progress: Equatable {
    var logID: UInt32
    var announcedEnd: UInt32
    var highest: UInt32
    var coveredCount: UInt64
    /// How many of those covered are lost; nil in older journals. Where reading finds more, the record of a fix that came
    /// after its loss has been damaged.
    var lostCount: UInt64?
}

/// How much of some segments in a row is gone. It tells damage that was dealt with from further damage.
struct DamageExtent: Equatable {
    /// Bytes that are no record.
    var byteCount: UInt32 = 0
    /// Segments that are missing.
    var missingSegmentCount: UInt32 = 0
}

/// The check of the records of one segment.
struct RecordCheck {
    /// A check that no frame of the wire begins with: the letters CLJ1.
    static let unbound: CRC24 = {
        var check = CRC24()
        check.update(bigEndian: UInt32(0x434C_4A31))
        return check
    }()

    /// Bound to collar and segment: what a file system puts into this file from another one is no record of it.
    let bound: CRC24

    init(deviceID: UInt64, segment: UInt32) {
        var check = RecordCheck.unbound
        check.update(bigEndian: deviceID)
        check.update(bigEndian: segment)
        bound = check
    }

    func checksum(of bytes: Span<UInt8>, count: Int) -> UInt32 {
        var check = bytes[0] == Record.Kind.header.rawValue ? RecordCheck.unbound : bound
        check.update(bytes, from: 0, to: count)
        return check.checksum
    }
}
