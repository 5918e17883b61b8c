import CollarARQ
import CollarFirmware
import CollarWire
import RadioModems

/// Collars within reach of one another and of one base stick.
///
/// On a half-duplex link, frames that are on the air at the same time destroy each other. This includes frames of the base
/// radio, except among themselves: the base radio sends one after the other. A full-duplex line has no collisions.
package struct SharedRadio<Flash: FlashDevice> {
    private struct Downlink {
        let start: Instant
        let end: Instant
        let frame: [UInt8]
        /// The address in the header; nil if the frame has no valid header.
        let address: UInt8?
        /// Whether the stick sends with the settings of the collars.
        let isOnChannel: Bool
        var isDestroyed = false
    }

    package private(set) var stations: [CollarRadioStation<Flash>]
    private let modem: ModemProfile
    /// The settings of the collars' radios; nil if they have no radio that is set.
    private let channel: RadioSettings?
    private var stick: any BaseStick
    /// Since when the stick listens with the settings of the collars; nil if it does not.
    private var listeningSince: Instant?
    /// Until when a host may react to what the stick did last.
    private var reactionEnd = Instant(microseconds: 0)
    private var signals: SeededRandom
    private var downlinks: [Downlink] = []
    private var hostFrames = 0
    private var hostAirtimeMicroseconds: Int64 = 0

    /// Creates the radio that stations of different addresses share.
    /// - Parameters:
    ///   - channel: the settings of the collars' radios; nil if they have no radio that is set.
    ///   - stick: the base stick; nil for one of the serial line.
    ///   - seed: what the signal of the packets depends on.
    package init(
        _ stations: [CollarRadioStation<Flash>], modem: ModemProfile, channel: RadioSettings? = nil, stick: (any BaseStick)? = nil,
        seed: UInt64 = 0
    ) {
        let stick = stick ?? SerialStick(modem: modem)
        self.stations = stations
        self.modem = modem
        self.channel = channel
        self.stick = stick
        signals = SeededRandom(seed: seed)
        listeningSince = stick.radio.hears(channel) ? Instant(microseconds: .min) : nil
    }

    /// Whether every fix of every track is logged and acknowledged.
    package var isDelivered: Bool { stations.allSatisfy(\.isDelivered) }

    /// How many fixes of the tracks the collars did not log, because they were stopped or their batteries low.
    package var skippedFixCount: Int { stations.reduce(0) { $0 + $1.skippedFixCount } }

    /// Whether any collar's poll has reached the host intact, and the base radio has not begun to send that collar a frame since.
    package var isAnswerExpected: Bool { stations.contains(where: \.isAnswerExpected) }

    /// Counts of all collars together.
    package var statistics: StationStatistics {
        var total = StationStatistics()
        for station in stations { total.addUplink(station.statistics) }
        total.downlinkFrames = hostFrames
        total.downlinkAirtimeMicroseconds = hostAirtimeMicroseconds
        return total
    }

    /// Counts of all collars together since the second half of each track began. Frames of the host are not among them.
    package var secondHalf: StationStatistics {
        var total = StationStatistics()
        for station in stations { if let counts = station.secondHalf { total.addUplink(counts) } }
        return total
    }

    /// Removes and returns the messages that the applications of the collars have taken since the last call.
    package mutating func removeTakenMessages() -> [ApplicationMessage] {
        defer { for index in stations.indices { stations[index].takenMessages = [] } }
        return stations.flatMap(\.takenMessages)
    }

    /// When to call ``advance(to:)`` again if no bytes come in.
    package var nextDeadline: Instant {
        var deadline = stick.nextDeadline
        for station in stations { deadline = min(deadline, station.nextDeadline) }
        for downlink in downlinks { deadline = min(deadline, downlink.end) }
        return deadline
    }

    /// Makes the next fix due now, if every fix made so far is acknowledged and no frame is on the air.
    package mutating func skipIdleTime(now: Instant) {
        guard downlinks.isEmpty, stick.dialect == .serial || !keepsRealTime(now: now) else { return }
        var idle = Int64.max
        for station in stations {
            guard let microseconds = station.idleMicroseconds(now: now) else { return }
            idle = min(idle, microseconds)
        }
        guard idle > 0, idle < .max else { return }
        for index in stations.indices { stations[index].skipIdle(microseconds: idle) }
    }

    /// Whether virtual time must keep pace with the real clock, because a host may do something: an answer is expected, the host
    /// has not set the stick's radio yet, or the host reacts to what the stick did.
    package func keepsRealTime(now: Instant) -> Bool {
        if isAnswerExpected { return true }
        return stick.dialect != .serial && (listeningSince == nil || now < reactionEnd)
    }

    /// When virtual time need no longer keep pace with the real clock, if nothing happens before; nil if only a deed of the host
    /// ends that.
    package func realTimeEnd(now: Instant) -> Instant? { now < reactionEnd ? reactionEnd : nil }

    /// How long a host may take to react to what the stick did, in microseconds.
    private static var reactionMicroseconds: Int64 { 100_000 }

    /// Notes that the last bytes were lost because no host has the port open.
    package mutating func serialBytesWereDropped() {
        for index in stations.indices { stations[index].isAnswerExpected = false }
    }

    package var isTakingInput: Bool { stick.isTakingInput }

    package mutating func cause(_ fault: StickFault, now: Instant) {
        stick.cause(fault, now: now)
        noteTuning(now: now)
    }

    /// Accepts bytes that the host wrote to the stick.
    package mutating func receive(_ bytes: [UInt8], now: Instant) {
        reactionEnd = now.advanced(byMicroseconds: Self.reactionMicroseconds)
        stick.receive(bytes, now: now)
        beginTransmissions(now: now)
    }

    private mutating func beginTransmissions(now: Instant) {
        while let transmission = stick.nextTransmission(now: now) { send(transmission, now: now) }
        destroyOverlaps()
    }

    private mutating func send(_ transmission: StickTransmission, now: Instant) {
        let airtime = transmission.airtimeMicroseconds
        var start = now
        if modem.isHalfDuplex, let last = downlinks.last { start = max(start, last.end) }
        hostFrames += 1
        hostAirtimeMicroseconds += airtime
        let frame = frame(in: transmission.packet)
        let downlink = Downlink(
            start: start, end: start.advanced(byMicroseconds: airtime), frame: frame,
            address: try? FrameHeader(ofAny: frame.span).address, isOnChannel: stick.radio.hears(channel))
        downlinks.append(downlink)
        for index in listeners(of: downlink) { stations[index].isAnswerExpected = false }
    }

    /// The frame that a collar finds in a packet of the stick. The byte that RNode firmware puts in front is stripped.
    private func frame(in packet: [UInt8]) -> [UInt8] { stick.dialect == .rnode ? Array(packet.dropFirst()) : packet }

    private mutating func noteTuning(now: Instant) { listeningSince = stick.radio.hears(channel) ? listeningSince ?? now : nil }

    private func listeners(of downlink: Downlink) -> [Int] {
        guard downlink.isOnChannel else { return [] }
        return stations.indices.filter {
            downlink.address == Frame.broadcastAddress || downlink.address == stations[$0].address
        }
    }

    package mutating func pressButtons(_ press: ButtonDecoder.Press, now: Instant) throws(StationError) {
        for index in stations.indices { try stations[index].press(press, now: now) }
    }

    /// The applications of the collars change their shared states, see ``CollarRadioStation/changeSharedState(to:now:)``.
    package mutating func changeSharedStates(to state: [UInt8], now: Instant) throws(StationError) {
        for index in stations.indices { _ = try stations[index].changeSharedState(to: state, now: now) }
    }

    /// Removes and returns the signals that the collars have given since the last call.
    package mutating func removeGivenSignals() -> [GivenSignal] {
        defer { for index in stations.indices { stations[index].givenSignals = [] } }
        return stations.flatMap(\.givenSignals)
    }

    /// Gives the first collar a bare frame from its cable, see
    /// ``CollarRadioStation/receiveFromCable(_:randomKey:randomLogID:now:)``.
    package mutating func receiveFromCable(
        _ frame: [UInt8], randomKey: CollarKey, randomLogID: UInt32, now: Instant
    ) throws(StationError) -> [UInt8]? {
        try stations[0].receiveFromCable(frame, randomKey: randomKey, randomLogID: randomLogID, now: now)
    }

    /// Does everything that is due.
    /// - Returns: bytes for the host.
    package mutating func advance(to now: Instant) throws(StationError) -> [UInt8] {
        let finished = downlinks.filter { $0.end <= now }
        downlinks.removeAll { $0.end <= now }
        for downlink in finished {
            stick.transmissionEnded(now: now)
            reactionEnd = now.advanced(byMicroseconds: Self.reactionMicroseconds)
            guard !downlink.isDestroyed else { continue }
            for index in listeners(of: downlink) {
                stations[index].receive(downlink.frame, start: downlink.start, end: downlink.end)
            }
        }
        for index in stations.indices {
            if let packet = try stations[index].advance(to: now) { hear(packet, from: index, now: now) }
        }
        destroyOverlaps()
        stick.noteChannel(isBusy: listeningSince != nil && stations.contains { $0.transmission != nil }, now: now)
        stick.advance(to: now)
        noteTuning(now: now)
        beginTransmissions(now: now)
        return stick.takeOutput(now: now)
    }

    /// Gives the stick a packet, if it has listened since the packet began.
    private mutating func hear(_ packet: ArrivedPacket, from index: Int, now: Instant) {
        guard let listeningSince, listeningSince <= packet.start else {
            stations[index].isAnswerExpected = false
            return
        }
        stick.hear(packet.bytes, signal: nextSignal(), now: now)
    }

    /// A signal around −100 dBm and 5 dB.
    private mutating func nextSignal() -> RadioSignal {
        let (strength, noise) = (Int16(signals.next() % 21), Int16(signals.next() % 81))
        return RadioSignal(strengthDBm: strength - 110, signalToNoiseTenthsDB: noise + 10)
    }

    /// Destroys frames that overlap. This function is called after every step in which a frame can begin. The end of a frame is
    /// known as soon as the frame begins, so no overlap is missed.
    private mutating func destroyOverlaps() {
        guard modem.isHalfDuplex else { return }
        for index in stations.indices {
            guard let frame = stations[index].transmission else { continue }
            for other in stations.indices where other != index && stations[other].transmission != nil {
                stations[index].destroyTransmission()
            }
            for other in downlinks.indices
            where downlinks[other].isOnChannel && downlinks[other].start < frame.end && frame.start < downlinks[other].end {
                stations[index].destroyTransmission()
                downlinks[other].isDestroyed = true
            }
        }
    }
}
