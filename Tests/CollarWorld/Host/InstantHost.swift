import CollarARQ
import CollarHost
import CollarJournal
import CollarSimulator
import CollarWire

/// The real host over a disk without faults. It stores and answers at once, for trials in which the host causes no delay.
package final class InstantHost {
    private let host: Host
    private let link: LinkID
    private let log: LogIdentity

    /// Creates a host that has already heard the collar.
    package init(knowing log: LogIdentity) {
        self.log = log
        let start = InstantHost.time(Instant(microseconds: 0))
        do throws(HostError) {
            var configuration = HostConfiguration(stateDirectory: "/state")
            configuration.selection.hasFixes = false
            host = try Host(configuration, fileSystem: SimulatedDisk(seed: 1), random: SeededRandom(seed: 1), at: start)
        } catch { preconditionFailure("a sound disk takes a journal: \(error)") }
        link = host.addLink(named: "radio")
        host.linkOpened(link, at: start)
        let identity = Identity(
            log: log, bootCount: 0, oldestSequence: 0, nextSequence: 0, pairedReceiverID: 0,
            maximumFrameByteCount: UInt8(Frame.maximumByteCount),
            firmwareVersion: FirmwareVersion(major: 1, minor: 0, patch: 0), capabilities: .sounder, heartbeatSeconds: 60)
        let frame = [UInt8].frame { output throws(EncodeError) in
            try identity.encode(address: 9, flags: FrameFlags(poll: nil), into: &output)
        }
        _ = answers(to: frame, at: start.instant)
    }

    static func time(_ now: Instant) -> HostTime {
        HostTime(instant: now, unixMilliseconds: 1_700_000_000_000 + now.microseconds / 1000)
    }

    /// The sequences of the collar's log that the host has made durable.
    package var stored: CoveredSequences {
        host.durable(of: log)
    }

    /// Receives a frame, and commits at once.
    /// - Returns: the frames that the host sends now.
    package func answers(to frame: [UInt8], at now: Instant) -> [[UInt8]] {
        answers(toSerial: Channel.stuffed(frame), at: now)
    }

    /// Receives bytes of a serial line, and commits at once.
    /// - Returns: the frames that the host sends now.
    package func answers(toSerial bytes: [UInt8], at now: Instant) -> [[UInt8]] {
        host.receive(bytes.span, on: link, at: InstantHost.time(now))
        return commit(at: now)
    }

    /// Receives a packet of a stick's modem, and commits at once.
    /// - Returns: the frames that the host sends now.
    package func answers(toPacket packet: [UInt8], signal: RadioSignal?, at now: Instant) -> [[UInt8]] {
        host.receive(packet: packet.span, signal: signal, on: link, at: InstantHost.time(now))
        return commit(at: now)
    }

    private func commit(at now: Instant) -> [[UInt8]] {
        while host.commitNext(at: InstantHost.time(now)) {}
        var frames: [[UInt8]] = []
        while let next = host.nextFrame() { frames.append(next.frame) }
        return frames
    }

    /// The timing of the radio became known.
    package func setTiming(_ timing: ModemProfile) { host.setTiming(timing, of: link) }

    /// Submits a request to the collar. If too many requests are queued, nothing changes.
    package func submit(_ request: HostRequest, at now: Instant) {
        do throws(RequestRefusal) {
            _ = try host.submit(request, to: log.deviceID, patience: .untilHeard, at: InstantHost.time(now))
        } catch {
            guard case .queueFull = error else { preconditionFailure("a sound host takes a command: \(error)") }
        }
    }
}

extension Host {
    /// The next frame to send, and its link; nil if there is none.
    func nextFrame() -> (link: LinkID, frame: [UInt8])? {
        var link: LinkID?
        let frame = [UInt8](capacity: Frame.maximumByteCount) { output in link = nextFrame(into: &output) }
        return link.map { ($0, frame) }
    }

    /// The sequences of a log that may be acknowledged.
    func durable(of log: LogIdentity) -> CoveredSequences {
        journals.first { $0.deviceID == log.deviceID }?.durable(logID: log.logID) ?? CoveredSequences()
    }
}
