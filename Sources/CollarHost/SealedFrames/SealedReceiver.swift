import CollarARQ
import CollarJournal
import CollarWire

/// Opens the sealed frames of collars whose keys the host has.
final class SealedReceiver {
    enum Outcome {
        /// An identity: its clear form is in the buffer.
        case identity(KeyedCollar, FrameNumber)
        /// Any other frame: its clear form is in the buffer.
        case opened(OpenedFrame)
        /// It was received before, or is too old to tell; its sender.
        case repeated(CollarSession)
        /// It is authentic, but frames with higher counters came before it, and a frame of its type is not used then.
        case outdated
        /// An authentic identity that does not begin a boot, and is no repeat: its boot count or its log is not accepted.
        case restarted(deviceID: DeviceID, bootCount: UInt32, logID: LogID, isStored: Bool)
        /// It does not open with any key, or was not tried because too many frames of its link and address failed.
        case notOpened
    }

    private let ring: KeyRing
    private let collars: CollarTable
    /// The clear form of the frame that was opened last.
    private(set) var clear: [UInt8] = []

    init(_ ring: KeyRing, collars: CollarTable) {
        self.ring = ring
        self.collars = collars
        clear.reserveCapacity(Frame.maximumByteCount)
    }

    var hasKeys: Bool { !ring.collars.isEmpty || !ring.pendingKeys.isEmpty }

    func receive(_ frame: Span<UInt8>, header: FrameHeader, type: MessageType, on link: Link, at time: HostTime) -> Outcome {
        guard link.unopened.mayTry(header.address, at: time.instant) else { return .notOpened }
        let outcome = type == .identity ? openIdentity(frame, header) : open(frame, header, type)
        if case .notOpened = outcome { return outcome }
        link.unopened.opened(from: header.address)
        return outcome
    }

    private func openIdentity(_ frame: Span<UInt8>, _ header: FrameHeader) -> Outcome {
        for keyed in ring.collars {
            guard let (number, logID) = openIdentity(frame, header, deviceID: keyed.deviceID, keys: keyed.keys) else { continue }
            guard let window = keyed.window, !keyed.isNewBoot(number.bootCount, logID: logID) else {
                return .identity(keyed, number)
            }
            if number.bootCount == window.highest.bootCount, logID == keyed.logID {
                let freshness = window.freshness(of: number.counter)
                if freshness == .new { return .identity(keyed, number) }
                guard freshness == .repeated, let session = collars.session(keyed.deviceID) else { return .outdated }
                return .repeated(session)
            }
            let logIDs = collars.session(keyed.deviceID)?.journal.logIDs ?? []
            guard keyed.isRestartAccepted(logID: logID, storedLogIDs: logIDs) else {
                let isStored = keyed.logID == logID || logIDs.contains(logID)
                // The permission would hold only after the journal is lost, and then for a repeated frame.
                if isStored, keyed.acceptedRestart == logID { ring.removeRestartPermission(of: keyed) }
                return .restarted(deviceID: keyed.deviceID, bootCount: number.bootCount, logID: logID, isStored: isStored)
            }
            ring.removeRestartPermission(of: keyed)
            return .identity(keyed, number)
        }
        for pending in ring.pendingKeys {
            guard let (number, _) = openIdentity(frame, header, deviceID: pending.deviceID, keys: pending.keys) else { continue }
            // If the key cannot be stored now, the next identity is tried again.
            guard let keyed = collars.activate(pending) else { return .notOpened }
            return .identity(keyed, number)
        }
        return .notOpened
    }

    /// Opens an identity with the keys of one collar. Its clear form is in the buffer then.
    private func openIdentity(
        _ frame: Span<UInt8>, _ header: FrameHeader, deviceID: DeviceID, keys: SealingKeys
    ) -> (number: FrameNumber, logID: LogID)? {
        var number: FrameNumber?
        fill { output in
            number = SealedFrame.openIdentity(frame, header: header, deviceID: deviceID, keys: keys, into: &output)
        }
        guard let number else { return nil }
        let bytes = clear
        do throws(DecodeError) { return (number, try Identity(decoding: bytes.span).log.logID) } catch { return nil }
    }

    private func open(_ frame: Span<UInt8>, _ header: FrameHeader, _ type: MessageType) -> Outcome {
        for session in collars.candidates(at: header.address) {
            guard let keyed = session.keyed, let window = keyed.window, let number = window.number(of: frame),
                let logID = keyed.logID, let log = session.logs.log(id: logID)
            else { continue }
            for binding in session.logs.bindings(of: frame, type: type, log: log) {
                var isOpen = false
                fill { output in
                    isOpen = SealedFrame.open(
                        frame, header: header, type: type, number: number, binding: binding, log: log.log,
                        keys: keyed.keys, into: &output)
                }
                guard isOpen else { continue }
                let freshness = window.freshness(of: number.counter)
                if freshness == .repeated { return .repeated(session) }
                guard freshness == .new || type.isUsedLate else { return .outdated }
                keyed.noteReceived(number, logID: logID)
                return .opened(
                    OpenedFrame(collar: session, log: log, number: number, binding: binding, isLate: freshness == .late))
            }
        }
        return .notOpened
    }

    private func fill(_ open: (inout OutputSpan<UInt8>) -> Void) {
        clear.removeAll(keepingCapacity: true)
        clear.append(addingCapacity: Frame.maximumByteCount, initializingWith: open)
    }
}

extension MessageType {
    /// Whether a frame is used although frames with higher numbers came before it. What other frames say may have changed since.
    fileprivate var isUsedLate: Bool {
        switch self {
        case .absoluteFix, .liveFix, .batch, .tombstone, .commandResult, .collarMessage: true
        default: false
        }
    }
}

/// The sender, the number and the binding of a sealed frame that was opened.
struct OpenedFrame {
    let collar: CollarSession
    let log: LogSession
    let number: FrameNumber
    /// The sequence or the anchor with which the frame opened.
    let binding: SealedBinding
    /// Whether frames with higher numbers came before it. Its poll is not answered then.
    let isLate: Bool
}

/// The sealed frames of one link that do not open: how many are tried, and when their senders are asked for their identities. Junk
/// at one link takes nothing from the others.
struct UnopenedFrames {
    private var ofLink = HostLimits.unopenedFrames
    private var addresses: [UInt8: UnopenedAtAddress] = [:]

    /// Whether another frame is tried. It counts as one that does not open until ``opened(from:)`` is called.
    mutating func mayTry(_ address: UInt8, at now: Instant) -> Bool {
        guard ofLink.take(at: now) else { return false }
        return addresses[address, default: UnopenedAtAddress()].mayTry(at: now)
    }

    mutating func opened(from address: UInt8) {
        ofLink.earn(1)
        addresses[address]?.opened()
    }

    /// The frame did not open.
    /// - Returns: whether enough frames in a row from its address did not open to rule out damage.
    mutating func failed(from address: UInt8, at now: Instant) -> Bool {
        addresses[address, default: UnopenedAtAddress()].failed(at: now)
    }

    /// The frame did not open. Whether to ask the address for its identity now.
    mutating func isRequestDue(at address: UInt8, now: Instant) -> Bool {
        addresses[address, default: UnopenedAtAddress()].isRequestDue(at: now)
    }
}

/// The sealed frames from one address at one link that do not open.
private struct UnopenedAtAddress {
    /// Frames that may fail to open: 100 at once, then 100 a second.
    private var failures = TokenBucket(capacity: 100, microsecondsPerToken: 10_000)
    private static let firstInterval: Int64 = 1_000_000
    private static let longestInterval: Int64 = 3_600_000_000

    /// This many frames in a row, over at least this time, are no damage: they come from a collar whose key the host does not have. A
    /// collar whose key is just being changed is taken up sooner.
    private static let certainCount = 4
    private static let certainInterval: Int64 = 3_000_000

    private var count = 0
    private var firstFailure: Instant?
    private var interval = UnopenedAtAddress.firstInterval
    private var lastRequest: Instant?

    /// Whether another frame is tried. It counts as one that does not open until ``opened()`` is called.
    mutating func mayTry(at now: Instant) -> Bool { failures.take(at: now) }

    mutating func opened() {
        failures.earn(1)
        count = 0
        firstFailure = nil
        interval = Self.firstInterval
        lastRequest = nil
    }

    /// The frame did not open.
    /// - Returns: whether enough frames in a row did not open to rule out damage.
    mutating func failed(at now: Instant) -> Bool {
        count = min(count + 1, Self.certainCount)
        let first = firstFailure ?? now
        firstFailure = first
        return count == Self.certainCount && now.microseconds(since: first) >= Self.certainInterval
    }

    /// Whether to ask for the identity now: 1 s after the first frame that does not open, then 2 s, 4 s … after the last request,
    /// up to an hour.
    mutating func isRequestDue(at now: Instant) -> Bool {
        guard let last = lastRequest else {
            lastRequest = now
            return false
        }
        guard now.microseconds(since: last) >= interval else { return false }
        lastRequest = now
        interval = min(2 * interval, Self.longestInterval)
        return true
    }
}
