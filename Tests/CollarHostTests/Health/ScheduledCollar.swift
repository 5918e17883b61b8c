import CollarARQ
import CollarHost
import CollarWire

@testable import CollarFirmware

/// A collar with a schedule, whose animal moves, rests and stays under a roof. The firmware's own machine decides when its receiver
/// searches; the rest is what section 18 of PROTOCOL.md says of heartbeats, statuses and power reports.
final class ScheduledCollar {
    /// For how long an animal does something.
    struct Spell {
        let minutes: Int64
        let isAtRest: Bool
        let isUnderRoof: Bool

        static func outside(_ minutes: Int64, isAtRest: Bool = false) -> Spell {
            Spell(minutes: minutes, isAtRest: isAtRest, isUnderRoof: false)
        }

        static func underRoof(_ minutes: Int64, isAtRest: Bool = false) -> Spell {
            Spell(minutes: minutes, isAtRest: isAtRest, isUnderRoof: true)
        }
    }

    /// Which of its frames are lost: each is sent once.
    enum Loss: CaseIterable { case none, statuses, powerReports }

    static let values: [SettingKey: UInt32] = [
        .heartbeatSeconds: 300, .fixIntervalMilliseconds: 180_000, .restFixIntervalMilliseconds: 3_600_000, .restHeartbeatSeconds: 900,
    ]
    /// From the switching on of the receiver to a position under open sky.
    private static let timeToFix: Int64 = 8_000_000

    let bench: HostBench
    let paper: PaperCollar
    private let link: LinkID
    private let loss: Loss
    private let settings: CollarSettings
    private var receiver = ReceiverSupply()
    private var switchedOn: Instant?
    private var isAtRest = false
    private var sequence: UInt32 = 0
    private var lastFrame = Instant(microseconds: 0)
    private var gnss = Status.GNSSState.fix
    private var mode = PowerReport.Mode.moving
    private var lastReport: Instant?
    private var isReportWanted = false
    private(set) var notices: [CollarNotice] = []
    private(set) var failureCount = 0
    private(set) var fixCount = 0

    init(losing loss: Loss = .none) throws {
        bench = try HostBench()
        link = bench.openLink()
        paper = try PaperCollar()
        self.loss = loss
        var settings = CollarSettings(heartbeatSeconds: 60)
        for (key, value) in ScheduledCollar.values { settings[key] = value }
        self.settings = settings
        send(try paper.identity(heartbeat: 300))
        send(try paper.status())
        for frame in try paper.settings(ScheduledCollar.values) { send(frame) }
    }

    private var heartbeat: Int64 { isAtRest ? 900_000_000 : 300_000_000 }

    private func send(_ frame: [UInt8]) {
        bench.receive(frame, on: link)
        lastFrame = bench.now
        note()
    }

    private func note() {
        for case .collar(_, let notice) in bench.notices() { notices.append(notice) }
    }

    /// Lives through the spells.
    func live(_ spells: [Spell]) throws {
        for spell in spells {
            if spell.isAtRest != isAtRest {
                isAtRest = spell.isAtRest
                if !isAtRest { receiver.endWait() }
                send(try paper.identity(next: sequence, heartbeat: UInt16(heartbeat / 1_000_000)))
            }
            let end = bench.now.advanced(byMicroseconds: spell.minutes * 60_000_000)
            while bench.now < end { try step(until: end, isUnderRoof: spell.isUnderRoof) }
        }
    }

    private func step(until end: Instant, isUnderRoof: Bool) throws {
        receiver.demand(.scheduled(FixSchedule(battery: .good, isStationary: isAtRest, hasAccelerometer: true, settings: settings)))
        if receiver.advance(to: bench.now) != nil { try sendFix() }
        if receiver.supply == .on { switchedOn = switchedOn ?? bench.now } else { switchedOn = nil }
        if isUnderRoof { receiver.heard(satelliteCount: 0) }
        try report()
        var next = lastFrame.advanced(byMicroseconds: heartbeat)
        if let due = receiver.nextDeadline { next = min(next, due) }
        let fix = isUnderRoof ? nil : switchedOn?.advanced(byMicroseconds: ScheduledCollar.timeToFix)
        if let fix, fix > bench.now { next = min(next, fix) }
        if let due = bench.host.nextDeadline { next = min(next, due) }
        bench.wait(until: min(max(next, bench.now.advanced(byMicroseconds: 1)), end))
        bench.host.deadlineReached(at: bench.time)
        note()
        let position = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        if let fix, bench.now >= fix, receiver.accept(position, now: bench.now) != nil { try sendFix() }
        if bench.now.microseconds(since: lastFrame) >= heartbeat { send(try paper.probe(next: sequence)) }
    }

    private func sendFix() throws {
        send(try paper.fix(sequence, seconds: bench.now.microseconds / 1_000_000))
        sequence += 1
        fixCount += 1
        bench.commit()
        _ = bench.entries()
        _ = bench.frames()
    }

    private func report() throws {
        failureCount = Int(receiver.failureCount)
        let isWithoutSky = receiver.failuresInRow >= 3
        let gnss: Status.GNSSState = isWithoutSky ? .searching : receiver.failuresInRow == 0 ? .fix : self.gnss
        if gnss != self.gnss {
            self.gnss = gnss
            if loss != .statuses { send(try paper.status(gnss: gnss, isStationary: isAtRest, isResting: receiver.supply != .on)) }
        }
        let mode: PowerReport.Mode = isWithoutSky ? .noSky : isAtRest ? .resting : .moving
        if mode != self.mode { isReportWanted = true }
        self.mode = mode
        let elapsed = lastReport.map { bench.now.microseconds(since: $0) } ?? .max
        guard elapsed >= (isReportWanted ? 600_000_000 : 21_600_000_000) else { return }
        guard receiver.supply != .on, let next = receiver.nextSearch else { return }
        (isReportWanted, lastReport) = (false, bench.now)
        guard loss != .powerReports else { return }
        let seconds = max(0, next.microseconds(since: bench.now) / 1_000_000)
        send(try paper.power(mode, next: UInt32(seconds), failures: receiver.failuresInRow))
    }
}
