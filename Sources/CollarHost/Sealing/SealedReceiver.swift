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
        /// It was received before; `collar` sent it.
        case repeated(CollarSession)
        /// It is authentic, but its boot or its age keeps it from being used.
        case outdated
        /// It is authentic, but its boot count is lower than one before.
        case restarted(deviceID: UInt64, bootCount: UInt32)
        /// No key opens it.
        case shut
    }

    private let ring: KeyRing
    private let collars: CollarTable
    /// Sealed frames that do not open, by address.
    private var silences = [SealedSilence](repeating: SealedSilence(), count: 256)
    /// The clear form of the frame that was opened last.
    private(set) var clear: [UInt8] = []

    init(_ ring: KeyRing, collars: CollarTable) {
        self.ring = ring
        self.collars = collars
        clear.reserveCapacity(Frame.maximumByteCount)
    }

    /// Whether the host has any key.
    var hasKeys: Bool { !ring.collars.isEmpty }

    /// Opens a frame of a collar, if it can be opened.
    func receive(_ frame: Span<UInt8>, header: FrameHeader, type: MessageType, at time: HostTime) -> Outcome {
        let place = Int(header.address)
        guard silences[place].mayTry(at: time.instant) else { return .shut }
        let outcome = type == .identity ? openIdentity(frame, header) : open(frame, header, type)
        if case .shut = outcome { return outcome }
        silences[place].opened()
        return outcome
    }

    /// A frame did not open. Whether its sender is to be asked for its identity now.
    func isIdentityWanted(from address: UInt8, at now: Instant) -> Bool {
        silences[Int(address)].isRequestDue(at: now)
    }

    private func openIdentity(_ frame: Span<UInt8>, _ header: FrameHeader) -> Outcome {
        for keyed in ring.collars {
            var number: FrameNumber?
            fill { output in
                number = SealedFrame.openIdentity(
                    frame, header: header, deviceID: keyed.deviceID, keys: keyed.keys, into: &output)
            }
            guard let number, let identity = try? Identity(decoding: clear.span) else { continue }
            let logID = identity.log.logID
            guard let window = keyed.window, !keyed.isNewBoot(number.bootCount, logID: logID) else {
                return .identity(keyed, number)
            }
            if number.bootCount == window.highest.bootCount, logID == keyed.logID {
                let novelty = window.novelty(of: number.counter)
                if novelty == .new { return .identity(keyed, number) }
                guard novelty == .repeated, let session = collars.session(keyed.deviceID) else {
                    return .outdated
                }
                return .repeated(session)
            }
            let logIDs = collars.session(keyed.deviceID)?.journal.logIDs ?? []
            guard keyed.acceptsRestart(logIDs: logIDs, logID: logID) else {
                return .restarted(deviceID: keyed.deviceID, bootCount: number.bootCount)
            }
            ring.noteRestart(of: keyed)
            return .identity(keyed, number)
        }
        return .shut
    }

    private func open(_ frame: Span<UInt8>, _ header: FrameHeader, _ type: MessageType) -> Outcome {
        for session in collars.inOrder(at: header.address) {
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
                let novelty = window.novelty(of: number.counter)
                if novelty == .repeated { return .repeated(session) }
                guard novelty == .new || type.isUsedLate else { return .outdated }
                keyed.noteReceived(number, logID: logID)
                return .opened(
                    OpenedFrame(
                        collar: session, log: log, number: number, binding: binding, isLate: novelty == .late))
            }
        }
        return .shut
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
