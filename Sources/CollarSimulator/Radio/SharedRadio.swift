import CollarARQ
import CollarFirmware
import CollarWire
import RadioModems

/// Collars within reach of base sticks, and mostly of one another.
///
/// On a half-duplex link, frames that are on the air at the same time destroy each other. This includes frames of the base
/// radios, except among those of one stick: it sends one after the other. Base sticks hear everything, and are heard by all. A frame
/// of a collar destroys a frame of a base only for the collars that hear that collar. A full-duplex line has no collisions.
package struct SharedRadio<Flash: FlashDevice> {
    private struct Downlink {
        /// The stick that sends.
        let base: Int
        let start: Instant
        let end: Instant
        let frame: [UInt8]
        /// The address in the header; nil if the frame has no valid header.
        let address: UInt8?
        /// Whether the stick sends with the settings of the collars.
        let isOnChannel: Bool
        /// The collars for which another frame has destroyed it.
        var isDestroyed: [Bool]
    }

    private struct Base {
        var stick: any BaseStick
        /// Since when the stick listens with the settings of the collars; nil if it does not.
        var listeningSince: Instant?
    }

    package private(set) var stations: [CollarRadioStation<Flash>]
    private let hearing: CollarHearing
    private var senses: ChannelSenses
    private let modem: ModemProfile
    /// The settings of the collars' radios; nil if they have no radio that is set.
    private let channel: RadioSettings?
    private var bases: [Base]
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
    ///   - hearing: which collars hear each other; nil if all do.
    ///   - seed: what the signal of the packets depends on.
    package init(
        _ stations: [CollarRadioStation<Flash>], modem: ModemProfile, channel: RadioSettings? = nil, stick: (any BaseStick)? = nil,
        hearing: CollarHearing? = nil, seed: UInt64 = 0
    ) {
        self.stations = stations
        self.modem = modem
        self.channel = channel
        self.hearing = hearing ?? CollarHearing(collarCount: stations.count)
        senses = ChannelSenses(collarCount: stations.count, modem: modem, seed: seed)
        bases = []
        signals = SeededRandom(seed: seed)
        addBase(stick ?? SerialStick(modem: modem))
    }

    /// Adds a further base stick. Its number is that of the sticks before it.
    package mutating func addBase(_ stick: any BaseStick) {
        bases.append(Base(stick: stick, listeningSince: stick.radio.hears(channel) ? Instant(microseconds: .min) : nil))
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
        var deadline = Instant.never
        for base in bases { deadline = min(deadline, base.stick.nextDeadline) }
        for station in stations { deadline = min(deadline, station.nextDeadline) }
        for downlink in downlinks { deadline = min(deadline, downlink.end) }
        return deadline
    }

    /// Makes the next fix due now, if every fix made so far is acknowledged and no frame is on the air.
    package mutating func skipIdleTime(now: Instant) {
        guard downlinks.isEmpty, isLine || !keepsRealTime(now: now) else { return }
        var idle = Int64.max
        for station in stations {
            guard let microseconds = station.idleMicroseconds(now: now) else { return }
            idle = min(idle, microseconds)
        }
        guard idle > 0, idle < .max else { return }
        for index in stations.indices { stations[index].skipIdle(microseconds: idle) }
    }

    private var isLine: Bool { bases.allSatisfy { $0.stick.dialect == .serial } }

    /// Whether virtual time must keep pace with the real clock, because a host may do something: an answer is expected, the host
    /// has not set the stick's radio yet, or the host reacts to what the stick did.
    package func keepsRealTime(now: Instant) -> Bool {
        if isAnswerExpected { return true }
        return !isLine && (bases.contains { $0.listeningSince == nil } || now < reactionEnd)
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

    /// Whether the first stick takes bytes of its host.
    package var isTakingInput: Bool { bases[0].stick.isTakingInput }

    /// The first stick fails.
    package mutating func cause(_ fault: StickFault, now: Instant) {
        bases[0].stick.cause(fault, now: now)
        noteTuning(now: now)
    }

    /// Accepts bytes that a host wrote to its stick.
    package mutating func receive(_ bytes: [UInt8], at base: Int = 0, now: Instant) {
        reactionEnd = now.advanced(byMicroseconds: Self.reactionMicroseconds)
        bases[base].stick.receive(bytes, now: now)
        beginTransmissions(now: now)
    }

    private mutating func beginTransmissions(now: Instant) {
        for base in bases.indices {
            while let transmission = bases[base].stick.nextTransmission(now: now) { send(transmission, from: base, now: now) }
        }
        destroyOverlaps()
    }

    private mutating func send(_ transmission: StickTransmission, from base: Int, now: Instant) {
        let airtime = transmission.airtimeMicroseconds
        var start = now
        if modem.isHalfDuplex, let last = downlinks.last(where: { $0.base == base }) { start = max(start, last.end) }
        hostFrames += 1
        hostAirtimeMicroseconds += airtime
        let frame = bases[base].stick.dialect == .rnode ? Array(transmission.packet.dropFirst()) : transmission.packet
        let downlink = Downlink(
            base: base, start: start, end: start.advanced(byMicroseconds: airtime), frame: frame,
            address: try? FrameHeader(ofAny: frame.span).address, isOnChannel: bases[base].stick.radio.hears(channel),
            isDestroyed: Array(repeating: false, count: stations.count))
        downlinks.append(downlink)
        for index in listeners(of: downlink) { stations[index].isAnswerExpected = false }
    }

    private mutating func noteTuning(now: Instant) {
        for base in bases.indices {
            bases[base].listeningSince = bases[base].stick.radio.hears(channel) ? bases[base].listeningSince ?? now : nil
        }
    }

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
    /// - Returns: bytes for the host of the first stick.
    package mutating func advance(to now: Instant) throws(StationError) -> [UInt8] {
        let finished = downlinks.filter { $0.end <= now }
        downlinks.removeAll { $0.end <= now }
        for downlink in finished {
            bases[downlink.base].stick.transmissionEnded(now: now)
            reactionEnd = now.advanced(byMicroseconds: Self.reactionMicroseconds)
            if downlink.isOnChannel { senses.ended(from: nil, start: downlink.start, end: downlink.end) }
            for index in listeners(of: downlink) where !downlink.isDestroyed[index] {
                stations[index].receive(downlink.frame, start: downlink.start, end: downlink.end)
            }
        }
        senseChannel(now: now)
        for index in stations.indices {
            let sent = stations[index].transmission
            if let packet = try stations[index].advance(to: now) { hear(packet, from: index, now: now) }
            if let sent, sent.end <= now { senses.ended(from: index, start: sent.start, end: sent.end) }
            senses.note(senseEnd: stations[index].senseEnd, of: index, now: now)
        }
        destroyOverlaps()
        let isBusy = stations.contains { $0.transmission != nil }
        for base in bases.indices {
            let hearsOther = downlinks.contains { $0.base != base && $0.isOnChannel && $0.start <= now }
            bases[base].stick.noteChannel(isBusy: bases[base].listeningSince != nil && (isBusy || hearsOther), now: now)
            bases[base].stick.advance(to: now)
        }
        noteTuning(now: now)
        beginTransmissions(now: now)
        return takeOutput(of: 0, now: now)
    }

    /// Removes and returns the bytes for the host of a stick.
    package mutating func takeOutput(of base: Int, now: Instant) -> [UInt8] { bases[base].stick.takeOutput(now: now) }

    /// Tells the collars that sense the channel what they have noticed.
    private mutating func senseChannel(now: Instant) {
        guard senses.isAny else { return }
        for index in stations.indices where senses.isSensing(index) {
            let isBusy =
                senses.hasEndedPacket(heardBy: index, in: hearing)
                || stations.indices.contains { other in
                    guard other != index, hearing.hears(index, other), let frame = stations[other].transmission else { return false }
                    return senses.notices(index, frame.start, min(frame.end, now))
                }
                || downlinks.contains { $0.isOnChannel && senses.notices(index, $0.start, min($0.end, now)) }
            if isBusy {
                stations[index].channelIsBusy(now: now)
                senses.end(index)
            }
        }
    }

    /// Gives the sticks a packet that they have listened to since it began.
    private mutating func hear(_ packet: ArrivedPacket, from index: Int, now: Instant) {
        var isHeard = false
        for base in bases.indices {
            guard let since = bases[base].listeningSince, since <= packet.start else { continue }
            isHeard = true
            bases[base].stick.hear(packet.bytes, signal: nextSignal(), now: now)
        }
        if !isHeard { stations[index].isAnswerExpected = false }
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
            for other in stations.indices
            where other != index && stations[other].transmission != nil && !hearing.captures(index, from: other) {
                stations[index].destroyTransmission()
            }
            for other in downlinks.indices
            where downlinks[other].isOnChannel && downlinks[other].start < frame.end && frame.start < downlinks[other].end {
                stations[index].destroyTransmission()
                for listener in stations.indices where hearing.hears(listener, index) { downlinks[other].isDestroyed[listener] = true }
            }
        }
        guard bases.count > 1 else { return }
        for first in downlinks.indices {
            for second in downlinks.indices
            where downlinks[first].base != downlinks[second].base && downlinks[first].isOnChannel && downlinks[second].isOnChannel
                && downlinks[first].start < downlinks[second].end && downlinks[second].start < downlinks[first].end
            {
                downlinks[first].isDestroyed = Array(repeating: true, count: stations.count)
            }
        }
    }
}
