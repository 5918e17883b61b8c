import CollarSimulator

/// A kind of thing that goes wrong in a ``World``. Each draws from a stream of its own, so that switching one off
/// leaves the others as they were.
package enum FaultKind: Int, CaseIterable, Sendable {
    /// Frames are lost independently.
    case loss
    /// Frames are lost in bursts, by a Gilbert–Elliott chain.
    case burstLoss
    /// A frame arrives twice, the second time late.
    case duplication
    /// A frame arrives late, behind later ones.
    case delay
    /// Bits of a frame are flipped.
    case bitFlips
    /// A frame loses its end.
    case truncation
    /// Bytes stand between frames that nobody sent.
    case noise
    /// Collars do not hear one another, and send at the same time.
    case hiddenCollars
    /// The base radio is unplugged for a while.
    case unplugging
    /// A collar reboots between two operations.
    case collarReboots
    /// A collar loses power, mostly in the middle of a write.
    case powerCuts
    /// A program or erase fails, and the collar runs on.
    case flashErrors
    /// The block written last has decayed when the collar boots, all of it being delivered.
    case flashDecay
    /// The flash of a collar is erased: a new log begins.
    case logErase
    /// The host's process is killed, perhaps amid a file operation; what it wrote stays in the page cache.
    case hostCrashes
    /// The host's sync fails.
    case syncFailures
    /// The host's sync takes seconds.
    case slowSync
    /// The host's disk is full for a while.
    case fullDisk
    /// Bytes on the host's disk are damaged while it is down.
    case storageDamage
    /// The collar's GNSS time jumps and drifts.
    case clockJumps
    /// Fixes come in bursts, and then none.
    case fixBursts
    /// A second receiver answers too.
    case rivalReceiver
    /// Collars have the same address.
    case equalAddresses
    /// Some fixes are sent as the difference to an acknowledged one.
    case liveForm
    /// Hosts give orders, change settings and ask for them.
    case requests
    /// Hosts pair and unpair collars, and somebody presses their buttons.
    case repairing
    /// The host's machine loses power: what was not synced survives in pieces.
    case hostPowerCuts
    /// File operations of the host fail with EIO for a while, and writes are cut short.
    case diskErrors
    /// The host's file system is read-only for a while.
    case readOnlyDisk
    /// The consumer of the host's lines is slow, and away for a while.
    case slowConsumer
    /// The clock of a host's machine shows another year: 1970, 2105, the right one, or a day beside it.
    case hostClockJumps
    /// Somebody restores a host's state directory from a copy made earlier, or removes it, while it does not run.
    case stateRollback
    /// A host has two radios, which hear the same frames.
    case severalRadios
    /// The hosts' disks are full before the first fix.
    case fullDiskAtStart
    /// A sender without secrets invents collars, repeats fixes with other contents, and speaks in the names of others. Sometimes it
    /// invents more logs of them, with more gaps, than a host keeps track of, or acknowledges what nobody has.
    case hostileSender
    /// Somebody removes a host's state directory while it runs, and restarts the host later.
    case stateRemoval
    /// Files and folders that are not the program's lie in a host's state directory.
    case foreignFiles
    /// The hosts remove what is older than a month: nothing is, whatever a clock shows.
    case retention
    /// Somebody moves a host's receiver to another disk, without what it has stored.
    case receiverMove
}

/// Some kinds of faults.
package typealias FaultSet = Set<FaultKind>

extension FaultSet {
    /// The kinds, in their order.
    package var kinds: [FaultKind] { FaultKind.allCases.filter(contains) }
}

/// A stream of random numbers a fault kind, and one for everything else.
struct FaultStreams {
    private var streams: [SeededRandom]
    var other: SeededRandom

    init(seed: UInt64) {
        var maker = SeededRandom(seed: seed ^ 0x5157_4152_4D00_0001)
        other = SeededRandom(seed: maker.next())
        streams = FaultKind.allCases.map { _ in SeededRandom(seed: maker.next()) }
    }

    subscript(kind: FaultKind) -> SeededRandom {
        get { streams[kind.rawValue] }
        _modify { yield &streams[kind.rawValue] }
    }
}

extension SeededRandom {
    /// 0 … `bound` − 1.
    mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(next() >> 1) % bound }

    /// `low` … `high`.
    mutating func between(_ low: Int64, _ high: Int64) -> Int64 {
        high <= low ? low : low + Int64(next() >> 1) % (high - low + 1)
    }

    /// A probability or rate between two, evenly in its logarithm: half of the draws are near the lower end.
    mutating func fraction(_ low: Double, _ high: Double) -> Double {
        let unit = Double(next() >> 11) * 0x1p-53
        return low + (high - low) * unit * unit
    }
}
