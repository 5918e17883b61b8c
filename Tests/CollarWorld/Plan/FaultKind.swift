import CollarSimulator

/// A kind of fault in a ``World``. Each kind has its own stream of random numbers, so that switching one kind off does not
/// change the others.
package enum FaultKind: Int, CaseIterable, Sendable {
    /// Frames are lost independently.
    case loss
    /// Frames are lost in bursts, by a Gilbert–Elliott chain.
    case burstLoss
    /// A frame arrives twice, the second time late.
    case duplication
    /// A frame arrives late, after frames that were sent later.
    case delay
    /// Bits of a frame are flipped.
    case bitFlips
    /// A frame loses its end.
    case truncation
    /// Bytes that nobody sent appear between frames.
    case noise
    /// A collar that is about to send does not hear other stations, so that frames collide.
    case hiddenCollars
    /// A base radio is unplugged for a while.
    case unplugging
    /// A collar reboots between two operations.
    case collarReboots
    /// A collar loses power while it programs or erases its flash.
    case powerCuts
    /// A program or erase fails, and the collar continues to run.
    case flashErrors
    /// The block that was written last decays before a boot, after everything in the log was delivered.
    case flashDecay
    /// The flash of a collar is erased: a new log begins.
    case logErase
    /// The host's process is killed, perhaps in the middle of a file operation. What it wrote stays in the page cache.
    case hostCrashes
    /// The host's sync fails.
    case syncFailures
    /// The host's sync takes up to three seconds.
    case slowSync
    /// The host's disk is full for a while.
    case fullDisk
    /// Bytes on the host's disk are damaged while it is down.
    case storageDamage
    /// The collar's GNSS time jumps.
    case clockJumps
    /// A collar makes fixes in bursts.
    case fixBursts
    /// A second receiver answers too.
    case rivalReceiver
    /// Collars have the same address.
    case equalAddresses
    /// Some fixes are sent as the difference to an acknowledged fix.
    case liveForm
    /// Hosts send commands, settings updates and settings requests.
    case requests
    /// Hosts pair and unpair collars, and users press the buttons of collars.
    case repairing
    /// The host's machine loses power: any part of what was not synced survives.
    case hostPowerCuts
    /// File operations of the host fail with EIO for a while, and writes are cut short.
    case diskErrors
    /// The host's file system is read-only for a while.
    case readOnlyDisk
    /// The consumer of the host's lines is slow, and away for a while.
    case slowConsumer
    /// The clock of a host's machine is set to 1970, to 2105, to the right time, or to a time up to a day off.
    case hostClockJumps
    /// A user restores a host's state directory from an earlier copy, or removes it, while the host does not run.
    case stateRollback
    /// A host has two radios, which hear the same frames.
    case severalRadios
    /// The hosts' disks are full before the first fix.
    case fullDiskAtStart
    /// A sender without secrets invents collars, repeats fixes with other contents, and sends frames in the names of other
    /// stations. In some worlds it invents more logs of real collars, with more gaps, than a host keeps track of, or it
    /// acknowledges fixes that no host has.
    case hostileSender
    /// A user removes a host's state directory while the host runs, and restarts the host later.
    case stateRemoval
    /// Files and directories of other programs appear in a host's state directory.
    case foreignFiles
    /// The hosts remove fixes older than 30 days. No fix is that old, so nothing may be removed, whatever a clock shows.
    case retention
    /// A user moves a host's receiver to another disk, without the stored records.
    case receiverMove
    /// Hosts and collars send application messages.
    case messages
    /// All collars and hosts have keys, and seal their frames.
    case sealing
    /// Users change the keys of collars over cables, and power fails meanwhile.
    case keyExchange
    /// A second machine with a copy of the first host's disk runs beside that host for a while, with radios of its own: both
    /// answer under one receiver id, as two virtual machines from one snapshot do.
    case clonedHost
    /// The base radios are sticks with other firmware, which the program sets up and speaks to through a modem. Sticks restart and
    /// forget their settings, stall, send random bytes, and find the channel busy or their queue full.
    case radioSticks
    /// Named readers follow the journals of the hosts. They confirm what they get late, store their positions at random times, and
    /// are killed at any point. Where the host's file operations fail, those of the readers fail too.
    case readers
    /// The hosts remove segments as soon as a newer fix is stored. In some worlds every consumer must have their entries first.
    case removal
}

/// A set of kinds of faults.
package typealias FaultSet = Set<FaultKind>

extension FaultSet {
    /// The kinds, in their order.
    package var kinds: [FaultKind] { FaultKind.allCases.filter(contains) }
}

/// A stream of random numbers for each kind of fault, and one for everything else.
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

    /// A random number between `low` and `high`. Half of the draws lie in the lowest quarter of this range.
    mutating func fraction(_ low: Double, _ high: Double) -> Double {
        let unit = Double(next() >> 11) * 0x1p-53
        return low + (high - low) * unit * unit
    }
}
