import CollarARQ
import CollarJournal
import CollarWire

/// Opens the sealed frames of collars whose keys the host has.
final class SealedReceiver {
    /// What became of a sealed frame.
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
        case restarted(deviceID: UInt64, bootCount: UInt32, logID: UInt32, isStored: Bool)
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

    /// Whether the host has any key.
    var hasKeys: Bool { !ring.collars.isEmpty || !ring.pendingKeys.isEmpty }

    /// Opens a frame of a collar, if it can be opened.
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
                guard freshness == .repeated, let session = collars.session(keyed.deviceID) else {
                    return .outdated
                }
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
        _ frame: Span<UInt8>, _ header: FrameHeader, deviceID: UInt64, keys: SealingKeys
    ) -> (number: FrameNumber, logID: UInt32)? {
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
                let logID = keyed.logID, let log = session.log(id: logID)
            else { continue }
            for binding in session.bindings(of: frame, type: type, log: log) {
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
                    OpenedFrame(
                        collar: session, log: log, number: number, digest: FrameCRC.sent(in: frame), binding: binding,
                        isLate: freshness == .late))
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
