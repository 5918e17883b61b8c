import CollarWire

/// Collars, hosts and the radio between them, with many kinds of faults, in virtual time. Everything random comes from one
/// seed.
///
/// Faults happen for a while. Then the world is calm, and everything that is still in flash must arrive. The oracle judges
/// every step; the run ends with the first violation.
package final class World {
    enum Station: Equatable {
        case collar(Int)
        case radio(Int)
        case attacker
    }

    /// A base radio in a port of a machine.
    final class BaseRadio {
        let index: Int
        let machine: SimulatedMachine
        /// Its index among the radios of its machine.
        let number: Int
        var isPlugged = true
        /// Frames that wait to be sent; the first one may be on the air.
        var outbox: [[UInt8]] = []
        var isSending = false
        var uplink: Channel
        var downlink: Channel
        /// The stick with other firmware; nil where the radio passes frames on as they are.
        let port: StickPort?
        /// Counts interruptions of the radio: a transmission that an interruption cut off is void.
        var life = 0

        init(index: Int, machine: SimulatedMachine, number: Int, channel: Channel, port: StickPort?) {
            self.index = index
            self.machine = machine
            self.number = number
            uplink = channel
            downlink = channel
            self.port = port
        }
    }

    enum Event {
        case makeFix(collar: Int)
        case boot(collar: Int, life: Int)
        case send(Station, life: Int)
        case sent(Station, life: Int, transmission: Int)
        case arrive(Station, bytes: [UInt8], isPacket: Bool)
        case diskDone(host: Int, life: Int)
        case restart(host: Int)
        case plug(radio: Int)
        case watchdog(host: Int, life: Int)
        case takeLines(host: Int)
        case attack
        case lastReboots
        case fault(FaultKind)
        case endOfFault(FaultKind, Int)
        case finish(collar: Int, life: Int, requestID: UInt16, outcome: CommandResult.Outcome?)
        case rebootByCommand(collar: Int, life: Int)
        case calm
        case clone
        case endOfClone
        case cable(collar: Int)
        case keysShared
        case readerTurn(host: Int, reader: Int)
    }

    /// A copy of a machine's disk, and what the machine had acknowledged when the copy was made.
    struct SavedState {
        let disk: SimulatedDisk.Snapshot
        let oracle: [Oracle.LogPromises]
    }

    /// A frame on the air.
    struct Transmission {
        let id: Int
        let sender: Station
        let start: Int64
        let end: Int64
        /// The collars whose radios receive when it begins.
        let listeners: [Int]
    }

    /// The most steps of a run, more than twice those of the longest known run: there, a host that has been rolled back has no room
    /// for further gaps, and the collar sends its log for ten minutes until it goes back to the first missing fix. Stations that answer
    /// each other without a pause would go on for ever.
    private static let stepLimit = 2_500_000
    /// The most frames in the outbox of a base radio.
    static let outboxLimit = 8

    let plan: WorldPlan
    let oracle: Oracle
    let collars: [SimulatedCollar]
    /// The machines that must have everything in the end.
    let hosts: [SimulatedMachine]
    /// The machine that gets a copy of the first host's disk; nil if no fault is of that kind.
    let clone: SimulatedMachine?
    /// The hosts, and then the clone. An event names a machine by its index here.
    let machines: [SimulatedMachine]
    let radios: [BaseRadio]
    let attacker: Attacker
    var streams: FaultStreams
    var queue = EventQueue<Event>()
    var now: Int64 = 0
    var isCalm = false
    var isSettled = false
    /// The cables of collars.
    var cables: [Int: Cable] = [:]
    var air: [Transmission] = []
    var transmissionCount = 0
    var framesAired = 0
    var statistics = WorldStatistics()
    private let isTracing: Bool
    private(set) var trace: [String] = []

    /// Sets up a world.
    /// - Parameter prepare: changes the disk of each machine before the machine starts.
    package init(_ plan: WorldPlan, isTracing: Bool = false, prepare: (SimulatedDisk) -> Void = { _ in }) {
        self.plan = plan
        self.isTracing = isTracing
        let oracle = Oracle(plan)
        self.oracle = oracle
        streams = FaultStreams(seed: plan.seed)
        let isEqual = plan.faults.contains(.equalAddresses)
        collars = (0..<plan.collarCount).map {
            SimulatedCollar(index: $0, plan: plan, address: isEqual ? 9 : UInt8(9 + $0))
        }
        let hostCount = plan.faults.contains(.rivalReceiver) ? 2 : 1
        let deviceIDs = collars.map(\.deviceID)
        let hosts = (0..<hostCount).map { SimulatedMachine(index: $0, plan: plan, oracle: oracle, collars: deviceIDs) }
        self.hosts = hosts
        clone = plan.faults.contains(.clonedHost) ? SimulatedMachine(index: hostCount, alike: hosts[0], plan: plan) : nil
        machines = hosts + (clone.map { [$0] } ?? [])
        let channel = Channel(plan: plan.channel.with(only: plan.faults), isStream: !plan.isHalfDuplex)
        var radios: [BaseRadio] = []
        for machine in machines {
            for number in 0..<machine.radioCount {
                let port = plan.hasSticks ? StickPort(plan, number: radios.count) : nil
                radios.append(
                    BaseRadio(index: radios.count, machine: machine, number: number, channel: channel, port: port))
            }
        }
        self.radios = radios
        attacker = Attacker(plan)
        for host in machines {
            prepare(host.disk)
            host.losesPowerAtStop = plan.scriptedCrashLosesPower
            if !host.readers.isEmpty || plan.faults.contains(.removal) {
                host.disk.changing = { [unowned self, unowned host] operation in
                    if operation == .remove { host.records.update() }
                    readersRunMeanwhile(host, operation)
                }
            }
            guard isTracing else { continue }
            host.trace = { [unowned self] text in log(text) }
            host.disk.failed = { [unowned self, unowned host] failure in log("  host \(host.index): \(failure)") }
            for reader in host.readers {
                reader.trace = { [unowned self, unowned host, unowned reader] text in log("  reader \(reader.name.text) of host \(host.index) \(text)") }
            }
        }
        clone?.isSwitchedOff = true
        for radio in radios where radio.machine === clone { radio.isPlugged = false }
    }

    /// Runs until everything has arrived, or to the first violation.
    package func run() -> WorldReport {
        begin()
        let end = plan.turbulentMicroseconds + plan.calmMicroseconds
        while oracle.violation == nil, !isSettled {
            step()
            if now > end { oracle.report(.progress, unsettledText) }
            if statistics.events == World.stepLimit { oracle.report(.progress, "\(statistics.events) steps, and still no end") }
        }
        // Ports do not depend on what their radios hear, the schedule of a collar not on a host, and a full channel not on disks: each is a
        // world of its own.
        if oracle.violation == nil, let rule = PortTrial.rule(brokenBy: plan.seed) { oracle.report(.portsAreServed, rule) }
        if oracle.violation == nil, let rule = ScheduleTrial.rule(brokenBy: plan.seed) { oracle.report(.scheduleIsKept, rule) }
        if oracle.violation == nil {
            let company = CompanyTrial.result(of: plan.seed)
            statistics.waits = company.waits
            if let rule = company.violation { oracle.report(.channelIsShared, rule) }
        }
        statistics.virtualMicroseconds = now
        statistics.longestCalmMicroseconds = max(0, now - plan.turbulentMicroseconds)
        statistics.flashSteps = collars.first?.flash.stepCount ?? 0
        statistics.coincidences = oracle.coincidences
        statistics.nonces = oracle.sealed.nonces
        statistics.checkedAlerts = oracle.checkedAlertCount
        statistics.pollsAnsweredTwice = oracle.sealed.pollsAnsweredTwice
        statistics.pollsAnsweredDifferently = oracle.sealed.pollsAnsweredDifferently
        statistics.diskOperations = hosts[0].disk.operationCount
        for host in hosts {
            statistics.lines += host.consumer.entryCount
            statistics.removedSegments += host.records.removedSegmentCount
            for reader in host.readers { reader.add(to: &statistics) }
        }
        return WorldReport(plan: plan, violation: oracle.violation, statistics: statistics, trace: trace)
    }

    /// Advances to the next moment at which something happens.
    private func step() {
        var due = queue.nextDue ?? .max
        var collarDue: Int?
        for collar in collars {
            if let deadline = collar.nextDeadline, deadline < due {
                due = deadline
                collarDue = collar.index
            }
        }
        var hostDue: SimulatedMachine?
        for host in machines {
            if let deadline = host.nextDeadline, deadline < due {
                due = deadline
                hostDue = host
            }
        }
        var stickDue: BaseRadio?
        for radio in radios {
            if let deadline = nextDeadline(ofStickOf: radio), deadline < due {
                due = deadline
                (collarDue, hostDue, stickDue) = (nil, nil, radio)
            }
        }
        now = max(now, due == .max ? now + 1_000_000 : due)
        oracle.now = now
        statistics.events += 1
        if let stickDue {
            exchange(with: stickDue)
        } else if let hostDue {
            hostDue.deadlineReached(now: now)
            letHostWork(hostDue)
        } else if let collarDue {
            // The collar may have to wait longer, for its duty cycle or a random delay. Then its deadline must have moved.
            if !pump(collars[collarDue]), collars[collarDue].nextDeadline ?? .max <= now {
                oracle.report(.deadlineIsUseful, "collar \(collarDue) reached a deadline and did nothing")
            }
        } else if let next = queue.takeFirst() {
            handle(next.event)
        }
        if plan.scriptedHostCrash == statistics.events {
            crash(hosts[0], restartAfter: 200_000, losesPower: plan.scriptedCrashLosesPower)
        }
        for host in machines where host.disk.isStopped {
            crash(host, restartAfter: 50_000, losesPower: host.losesPowerAtStop)
        }
    }

    func log(_ text: @autoclosure () -> String) {
        guard isTracing else { return }
        trace.append((Double(now) / 1000).text(decimals: 3).right(12) + " ms  \(text())")
    }
}

/// How a run ended.
package struct WorldReport: Sendable {
    /// The plan of the run.
    package let plan: WorldPlan
    /// The first invariant that did not hold; nil if all held.
    package let violation: Violation?
    /// Counts.
    package let statistics: WorldStatistics
    /// What happened, line by line; empty if the run was not traced.
    package let trace: [String]
}

/// Counts of a run.
package struct WorldStatistics: Equatable, Sendable {
    /// Steps.
    package var events = 0
    /// Frames the collars sent.
    package var uplinkFrames = 0
    /// Frames the hosts sent.
    package var downlinkFrames = 0
    /// Fixes that collars logged or tried to log.
    package var fixes = 0
    /// Reboots of collars.
    package var reboots = 0
    /// Kills of running hosts, and power cuts while they ran.
    package var crashes = 0
    /// Power cuts of the hosts' machines.
    package var hostPowerCuts = 0
    /// Fixes that the hosts' consumers took, each counted once.
    package var lines = 0
    /// Commands and settings updates that collars executed.
    package var requests = 0
    /// Duration of the run, in microseconds of virtual time.
    package var virtualMicroseconds: Int64 = 0
    /// The longest time from the end of the faults until everything had arrived, in microseconds of virtual time.
    package var longestCalmMicroseconds: Int64 = 0
    /// Steps of the first collar's flash.
    package var flashSteps = 0
    /// File operations of the first host.
    package var diskOperations = 0
    /// Damaged frames that fitted a CRC by chance.
    package var coincidences = 0
    /// Clones of hosts that ran.
    package var clones = 0
    /// Fixes that a clone had acknowledged when it was switched off, and that its host did not have.
    package var fixesOfClonesAlone = 0
    /// Polls of collars with keys to which a host and its clone both made an answer.
    package var pollsAnsweredTwice = 0
    /// Those of them for which the two answers differ.
    package var pollsAnsweredDifferently = 0
    /// The different frames of hosts for one poll.
    package var nonces = NonceStatistics()
    /// Packets that sticks passed on to their hosts.
    package var stickPacketsUp = 0
    /// Packets of hosts that sticks sent.
    package var stickPacketsDown = 0
    /// How often a stick was set up.
    package var stickSetups = 0
    /// Restarts of sticks, which forget their settings.
    package var stickResets = 0
    /// Other faults of sticks.
    package var stickFaults = 0
    /// Processes of named readers.
    package var readerLives = 0
    /// Fixes and messages that the consumers of named readers confirmed, each counted once.
    package var readerEntries = 0
    /// Fixes and messages that they were given again.
    package var readerRepeats = 0
    /// Alerts that named readers were owed.
    package var checkedAlerts = 0
    /// Segments that hosts removed for their age.
    package var removedSegments = 0
    /// The random waits of collars that share a channel.
    package var waits = WaitStatistics()

    /// All counts are 0.
    package init() {}

    /// Adds the counts of another run.
    package mutating func add(_ other: WorldStatistics) {
        let counts: [WritableKeyPath<WorldStatistics, Int>] = [
            \.events, \.uplinkFrames, \.downlinkFrames, \.fixes, \.reboots, \.crashes, \.hostPowerCuts, \.lines, \.requests,
            \.flashSteps, \.diskOperations, \.coincidences, \.clones, \.fixesOfClonesAlone, \.pollsAnsweredTwice, \.pollsAnsweredDifferently,
            \.stickPacketsUp, \.stickPacketsDown, \.stickSetups, \.stickResets, \.stickFaults,
            \.readerLives, \.readerEntries, \.readerRepeats, \.checkedAlerts, \.removedSegments,
        ]
        for count in counts { self[keyPath: count] += other[keyPath: count] }
        nonces.add(other.nonces)
        waits.add(other.waits)
        virtualMicroseconds += other.virtualMicroseconds
        longestCalmMicroseconds = max(longestCalmMicroseconds, other.longestCalmMicroseconds)
    }
}

extension ChannelPlan {
    /// The same radio with the faults that are in `faults`, and no others.
    func with(only faults: FaultSet) -> ChannelPlan {
        var plan = self
        let probabilities: [(FaultKind, WritableKeyPath<ChannelPlan, Double>)] = [
            (.loss, \.loss), (.burstLoss, \.burstStart), (.duplication, \.duplication), (.delay, \.delay),
            (.bitFlips, \.flips), (.truncation, \.truncation), (.noise, \.noise),
        ]
        for (kind, probability) in probabilities where !faults.contains(kind) { plan[keyPath: probability] = 0 }
        return plan
    }
}
