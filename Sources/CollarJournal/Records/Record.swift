import CollarWire

/// One record of a segment: kind (1 byte), fields, CRC (3 bytes); at most 253 bytes. On the disk it has the byte stuffing of
/// a serial line and is between two zero bytes, so that reading finds the next record after any damage.
///
/// Kinds that are not listed here are reserved for later versions, and this version skips them.
enum Record: Equatable {
    case header(SegmentHeader)
    case entry(JournalEntry)
    /// A part of the covered ranges of one log at the start of a segment.
    case covered(logID: LogID, announcedEnd: UInt32, ranges: [SequenceRange])
    /// A part of the lost ranges of one log at the start of a segment. These parts come before the covered ones.
    case lost(logID: LogID, ranges: [SequenceRange])
    case checkpointEnd(CheckpointEnd)
    case progress(Progress)
    case cursor(JournalPosition)
    case repaired(segment: UInt32, DamageExtent)
    case sealed(SealedProgress)
    case address(UInt8)
    case memory(CollarMemory)
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
        case message = 11
        case sealed = 12
        case address = 13
        case memory = 14
    }
}

/// The first record of a segment. Its CRC is not bound to the collar and the segment, so that a tool can read which collar a
/// stray file belongs to.
struct SegmentHeader: Equatable {
    static let currentFormat: UInt8 = 1

    var format = currentFormat
    var deviceID: DeviceID
    var receiverID: UInt32
    var segment: UInt32
    var createdUnixMilliseconds: Int64
}

struct Checkpoint {
    /// The covered sequences, by log.
    var logs: [(LogID, CoveredSequences)] = []
    /// The extent of damage that was dealt with; the key is the first segment of its ``DamagedStretch``.
    var repaired: [UInt32: DamageExtent] = [:]
    /// The position up to which lines were handed over.
    var cursor = JournalPosition.start
    /// How far the sealed frames have come; nil if there were none.
    var sealed: SealedProgress?
    /// The address at which the collar was heard last; nil if that was not recorded.
    var address: UInt8?
    var memory = CollarMemory()
}

/// Ends the checkpoint at the start of a segment. Without it, or with other counts, the checkpoint is not complete.
struct CheckpointEnd: Equatable {
    /// The number of ``Record/covered(logID:announcedEnd:ranges:)`` records.
    var partCount: UInt32
    var cursor: JournalPosition
    /// The number of ``Record/lost(logID:ranges:)`` records. Absent in older journals, whose checkpoints do not tell losses from
    /// fixes.
    var lostPartCount: UInt32 = 0
}

/// The coverage of a log at the end of a commit, which is about to be announced. If reading finds less, a record before it
/// has been damaged.
struct Progress: Equatable {
    var logID: LogID
    var announcedEnd: UInt32
    var highest: UInt32
    var coveredCount: UInt64
    /// How many of the covered sequences are lost; nil in older journals. If reading finds more, the stored
    /// record of a previously lost fix has been damaged.
    var lostCount: UInt64?
}

extension Progress {
    init(of covered: CoveredSequences, logID: LogID, announcedEnd: UInt32) {
        self.init(
            logID: logID, announcedEnd: max(announcedEnd, covered.firstMissing), highest: covered.highest ?? 0,
            coveredCount: covered.count, lostCount: covered.lost.count)
    }
}

/// How far the sealed frames of a collar have come: frames of this boot up to this counter were received. After a restart
/// they count as repeats.
package struct SealedProgress: Equatable, Sendable {
    /// Tells for which key of the collar this holds, see `SealingKeys`.
    package var keyFingerprint: UInt32
    /// The log that the collar had in this boot.
    package var logID: LogID
    /// The newest boot count of an authentic identity, and the highest counter of an authentic frame in this boot.
    package var number: FrameNumber
    /// The highest boot count that a restart retired; 0 if none did.
    package var highestRetiredBootCount: UInt32

    package init(keyFingerprint: UInt32, logID: LogID, number: FrameNumber, highestRetiredBootCount: UInt32 = 0) {
        self.keyFingerprint = keyFingerprint
        self.logID = logID
        self.number = number
        self.highestRetiredBootCount = highestRetiredBootCount
    }
}

/// How much of consecutive segments is gone. It distinguishes damage that was dealt with from further damage.
struct DamageExtent: Equatable {
    /// Bytes that are no record.
    var byteCount: UInt32 = 0
    var missingSegmentCount: UInt32 = 0
}

struct RecordCRC {
    /// The CRC after the letters CLJ1. The CRC of a frame on the wire is never computed with these letters in front.
    static let unbound: CRC24 = {
        var crc = CRC24()
        crc.update(bigEndian: UInt32(0x434C_4A31))
        return crc
    }()

    /// The CRC bound to the collar and the segment: bytes of another file that a file system put into this one are no record.
    let bound: CRC24

    init(deviceID: DeviceID, segment: UInt32) {
        var crc = RecordCRC.unbound
        crc.update(bigEndian: deviceID.rawValue)
        crc.update(bigEndian: segment)
        bound = crc
    }

    func checksum(of bytes: Span<UInt8>, count: Int) -> UInt32 {
        var crc = bytes[0] == Record.Kind.header.rawValue ? RecordCRC.unbound : bound
        crc.update(bytes, from: 0, to: count)
        return crc.checksum
    }
}

/// The condition of a collar that a receiver keeps for its next run.
package struct CollarMemory: Equatable, Sendable {
    /// The worst state of a battery of which a person was told. The raw values are on the disk.
    package enum BatteryWarning: UInt8, Comparable, Sendable {
        /// None since the battery was charged.
        case none = 0
        /// The battery is low.
        case low = 1
        /// The battery is almost empty.
        case critical = 2

        /// Whether `left` is the better state.
        package static func < (left: BatteryWarning, right: BatteryWarning) -> Bool { left.rawValue < right.rawValue }
    }

    /// The heartbeat in force, in seconds; 0 if the collar has not told it.
    package var heartbeatSeconds: UInt16 = 0
    /// The boot count of the last boot that a person was told of, or of the first identity; 0 before that.
    package var bootCount: UInt32 = 0
    package var batteryWarning = BatteryWarning.none

    /// Whether the collar was unpaired by this receiver, and has neither taken it again nor been erased since.
    package var isReleased = false
    /// The log that the collar had when it was released; nil if it was not, and in older journals. Perhaps nothing else of this
    /// log is stored.
    package var releasedLogID: LogID?
    /// The newest reported value of each setting that determines the schedule of the collar.
    package var settings: [SettingKey: UInt32] = [:]

    package init() {}
}
