import CollarARQ
import CollarFirmware
import CollarWire

/// Collars within reach of one another and of one base radio, and the base radio's serial side.
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
        var isDestroyed = false
    }

    /// The stations in the order given.
    package private(set) var stations: [CollarRadioStation<Flash>]
    private let modem: ModemProfile
    private var downlinks: [Downlink] = []
    private var hostStream = StreamDecoder()
    private var hostFrames = 0
    private var hostAirtimeMicroseconds: Int64 = 0

    /// Creates the radio that stations of different addresses share.
    package init(_ stations: [CollarRadioStation<Flash>], modem: ModemProfile) {
        self.stations = stations
        self.modem = modem
    }

    /// Whether every fix of every track is logged and acknowledged.
    package var isDelivered: Bool { stations.allSatisfy(\.isDelivered) }

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

    /// Removes and returns the messages that the applications of the collars have taken since the last call.
    package mutating func removeTakenMessages() -> [ApplicationMessage] {
        var messages: [ApplicationMessage] = []
        for index in stations.indices where !stations[index].takenMessages.isEmpty {
            messages += stations[index].takenMessages
            stations[index].takenMessages = []
        }
        return messages
    }

    /// When to call ``advance(to:)`` again if no bytes come in.
    package var nextDeadline: Instant {
        var deadline = Instant(microseconds: .max)
        for station in stations { deadline = min(deadline, station.nextDeadline) }
        for downlink in downlinks { deadline = min(deadline, downlink.end) }
        return deadline
    }

    /// Makes the next fix due now, if every fix made so far is acknowledged and no frame is on the air.
    package mutating func skipIdleTime(now: Instant) {
        guard downlinks.isEmpty else { return }
        var idle = Int64.max
        for station in stations {
            guard let microseconds = station.idleMicroseconds(now: now) else { return }
            idle = min(idle, microseconds)
        }
        guard idle > 0, idle < .max else { return }
        for index in stations.indices { stations[index].skipIdle(microseconds: idle) }
    }

    /// Notes that the last serial bytes were lost because no host has the port open.
    package mutating func serialBytesWereDropped() {
        for index in stations.indices { stations[index].serialBytesWereDropped() }
    }

    /// Accepts serial bytes that the host wrote to the base radio.
    package mutating func receive(_ bytes: [UInt8], now: Instant) {
        var index = 0
        while let event = hostStream.next(in: bytes.span, at: &index) {
            guard case .frame = event else { continue }
            send(hostFrame, now: now)
        }
    }

    private var hostFrame: [UInt8] {
        let span = hostStream.frame
        return span.indices.map { span[$0] }
    }

    private mutating func send(_ frame: [UInt8], now: Instant) {
        let airtime = modem.airtimeMicroseconds(frameByteCount: frame.count)
        var start = now
        if modem.isHalfDuplex, let last = downlinks.last { start = max(start, last.end) }
        hostFrames += 1
        hostAirtimeMicroseconds += airtime
        let downlink = Downlink(
            start: start, end: start.advanced(byMicroseconds: airtime), frame: frame,
            address: try? FrameHeader(ofAny: frame.span).address)
        downlinks.append(downlink)
        for index in listeners(of: downlink) { stations[index].answerBegan() }
        destroyOverlaps()
    }

    private func listeners(of downlink: Downlink) -> [Int] {
        stations.indices.filter {
            downlink.address == Frame.broadcastAddress || downlink.address == stations[$0].address
        }
    }

    /// Presses the buttons of all collars.
    package mutating func pressButtons(now: Instant) {
        for index in stations.indices { stations[index].pressButton(now: now) }
    }

    /// Gives the first collar a bare frame from its cable, see
    /// ``CollarRadioStation/receiveFromCable(_:randomKey:randomLogID:now:)``.
    package mutating func receiveFromCable(
        _ frame: [UInt8], randomKey: CollarKey, randomLogID: UInt32, now: Instant
    ) throws(StationError) -> [UInt8]? {
        try stations[0].receiveFromCable(frame, randomKey: randomKey, randomLogID: randomLogID, now: now)
    }

    /// Does everything that is due.
    /// - Returns: serial bytes for the host.
    package mutating func advance(to now: Instant) throws(StationError) -> [UInt8] {
        let finished = downlinks.filter { $0.end <= now }
        downlinks.removeAll { $0.end <= now }
        for downlink in finished where !downlink.isDestroyed {
            for index in listeners(of: downlink) {
                stations[index].receive(downlink.frame, start: downlink.start, end: downlink.end)
            }
        }
        var output: [UInt8] = []
        for index in stations.indices { output += try stations[index].advance(to: now) }
        destroyOverlaps()
        return output
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
            for other in downlinks.indices where downlinks[other].start < frame.end && frame.start < downlinks[other].end {
                stations[index].destroyTransmission()
                downlinks[other].isDestroyed = true
            }
        }
    }
}
