import CollarARQ
import CollarJournal
import CollarWire

/// The host's side of an exchange of keys on a cable (PROTOCOL.md, section 23). It has no clock and no I/O: the caller gives it
/// the frames that come in and the time, sends its frames, and stores keys.
package struct KeyExchange {
    package enum Stage: Equatable, Sendable {
        case findingCollar
        /// It asks the collar for a new key.
        case requesting(Request)
        /// The collar has offered a key. The caller stores it as pending and calls ``pendingKeyStored(now:)``.
        case storing(deviceID: DeviceID, key: CollarKey)
        case activating(deviceID: DeviceID, key: CollarKey)
        /// The collar has this key. The caller stores it as the key of the collar; later pending keys remain.
        case finished(deviceID: DeviceID, key: CollarKey)
        case failed(Failure)
    }

    /// A request for a new key, by the collar that it goes to.
    package enum Request: Equatable, Sendable {
        /// A collar whose key the host has. The collar obeys after power-on and after a press of its button.
        case proven(deviceID: DeviceID, key: CollarKey)
        /// A collar in clear. It obeys after power-on and after a press of its button.
        case first(deviceID: DeviceID)
        /// A collar with a key that the host does not have, or one that has lost its key and does not answer. It obeys only after
        /// a press of its button.
        case foreign
    }

    package enum Failure: Equatable, Sendable {
        /// Frames came in that no cable carries: a radio is at the port.
        case isRadio
        /// A collar whose key the host has says that it has none. Its flash was erased, or somebody tries to pass for it.
        case keyedCollarInClear(deviceID: DeviceID)
        case noOffer
        /// The collar has not shown that it has the key. If it has, the pending key opens its next identity.
        case notConfirmed(deviceID: DeviceID)
    }

    private static let repeatMicroseconds: Int64 = 1_000_000
    /// This many identities that open with the present key show that the collar has forgotten the key that it offered.
    private static let forgottenCount = 3
    private static let findingMicroseconds: Int64 = 3_000_000
    /// How long the exchange waits for an offer: a person has to press a button or to switch the collar on.
    package static let patienceMicroseconds: Int64 = 120_000_000
    private static let activatingMicroseconds: Int64 = 60_000_000

    private let keys: [DeviceID: KeyFiles.Entry]
    private let receiverID: UInt32
    private var stageEnd: Instant
    private var nextTurn: Instant
    private var frames: [[UInt8]] = []
    /// Whether the next turn of a request to a foreign collar asks for the identity.
    private var isIdentityTurn = true
    /// Identities that have opened with the present key since the activation began.
    private var formerKeyCount = 0

    package private(set) var stage = Stage.findingCollar

    /// Begins an exchange.
    /// - Parameter receiverID: the id in identity requests, not 0.
    package init(keys: [DeviceID: KeyFiles.Entry], receiverID: UInt32, now: Instant) {
        self.keys = keys
        self.receiverID = receiverID
        nextTurn = now
        stageEnd = now.advanced(byMicroseconds: KeyExchange.findingMicroseconds)
    }

    /// When to call ``nextFrame(now:)`` again if no frame comes in; nil if the exchange waits for the caller or has ended.
    package var nextDeadline: Instant? {
        switch stage {
        case .findingCollar, .requesting, .activating: min(nextTurn, stageEnd)
        case .storing, .finished, .failed: nil
        }
    }

    /// The next bare frame to send; nil if none is due.
    package mutating func nextFrame(now: Instant) -> [UInt8]? {
        if frames.isEmpty { takeTurn(now: now) }
        return frames.isEmpty ? nil : frames.removeFirst()
    }

    private mutating func takeTurn(now: Instant) {
        if now >= stageEnd { endStage(now: now) }
        guard now >= nextTurn else { return }
        switch stage {
        case .findingCollar: queueIdentityRequest()
        case .requesting(.foreign) where isIdentityTurn:
            // A collar that is switched on now may be one whose key the host has.
            isIdentityTurn = false
            queueIdentityRequest()
            nextTurn = now.advanced(byMicroseconds: KeyExchange.repeatMicroseconds / 2)
            return
        case .requesting(let request):
            isIdentityTurn = true
            var proof: KeyProof?
            if case .proven(let deviceID, let key) = request { proof = .ofPresentKey(key, deviceID: deviceID) }
            queue { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try CableFrame.encodeRequest(proof: proof, into: &output)
            }
        case .activating(let deviceID, let key):
            queue { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try CableFrame.encodeActivation(proof: .ofNewKey(key, deviceID: deviceID), into: &output)
            }
            queueIdentityRequest()
        case .storing, .finished, .failed: return
        }
        nextTurn = now.advanced(byMicroseconds: KeyExchange.repeatMicroseconds)
    }

    private mutating func endStage(now: Instant) {
        switch stage {
        // A collar that has lost its key does not send its identity.
        case .findingCollar: begin(.foreign, now: now)
        case .requesting: stage = .failed(.noOffer)
        case .activating(let deviceID, _): stage = .failed(.notConfirmed(deviceID: deviceID))
        case .storing, .finished, .failed: break
        }
    }

    private mutating func begin(_ request: Request, now: Instant) {
        stage = .requesting(request)
        stageEnd = now.advanced(byMicroseconds: KeyExchange.patienceMicroseconds)
        nextTurn = now
        frames = []
    }

    /// The offered key is stored durably as the pending key of its collar.
    package mutating func pendingKeyStored(now: Instant) {
        guard case .storing(let deviceID, let key) = stage else { return }
        stage = .activating(deviceID: deviceID, key: key)
        formerKeyCount = 0
        stageEnd = now.advanced(byMicroseconds: KeyExchange.activatingMicroseconds)
        nextTurn = now
    }

    /// Receives one bare frame from the cable. Frames that do not belong to the exchange are ignored.
    package mutating func receive(_ frame: Span<UInt8>, now: Instant) {
        guard let header = try? FrameHeader(ofAny: frame) else { return }
        if isOfRadio(frame, header) {
            stage = .failed(.isRadio)
            return
        }
        switch (header.type, CableFrame(header), stage) {
        case (.identity, _, .findingCollar), (.identity, _, .requesting(.foreign)): receiveIdentity(frame, header, now: now)
        case (_, .keyOffer, .requesting(let request)): receiveOffer(frame, header, request)
        case (.identity, _, .activating(let deviceID, let key)):
            if open(frame, header, deviceID: deviceID, key: key) != nil {
                stage = .finished(deviceID: deviceID, key: key)
            } else if let former = keys[deviceID]?.key, open(frame, header, deviceID: deviceID, key: former) != nil {
                formerKeyCount += 1
                if formerKeyCount == KeyExchange.forgottenCount { begin(.proven(deviceID: deviceID, key: former), now: now) }
            }
        default: break
        }
    }

    /// Whether a frame comes from a base radio, or from a collar that polls. On its cable a collar does not poll.
    private func isOfRadio(_ frame: Span<UInt8>, _ header: FrameHeader) -> Bool {
        switch header.type {
        case .radioIdentity, .modemSettings, .signalReport: return FrameCRC.isValid(frame, log: nil)
        case .identity, .probe:
            guard header.flags.poll != nil else { return false }
            guard header.flags.isSealed else { return FrameCRC.isValid(frame, log: nil) }
            return keys.contains { deviceID, entry in
                entry.key.map { open(frame, header, deviceID: deviceID, key: $0) != nil } ?? false
            }
        default: return false
        }
    }

    private mutating func receiveIdentity(_ frame: Span<UInt8>, _ header: FrameHeader, now: Instant) {
        guard header.flags.isSealed else {
            guard case .identity(let identity)? = try? Message.decode(frame, log: nil, reference: 0) else { return }
            let deviceID = identity.log.deviceID
            guard keys[deviceID]?.key == nil else {
                stage = .failed(.keyedCollarInClear(deviceID: deviceID))
                return
            }
            return begin(.first(deviceID: deviceID), now: now)
        }
        for (deviceID, entry) in keys {
            // An earlier exchange was cut off after the collar had taken the key over.
            for pending in entry.pendingKeys where open(frame, header, deviceID: deviceID, key: pending) != nil {
                stage = .finished(deviceID: deviceID, key: pending)
                return
            }
            if let key = entry.key, open(frame, header, deviceID: deviceID, key: key) != nil {
                return begin(.proven(deviceID: deviceID, key: key), now: now)
            }
        }
        // A damaged frame does not open either: the exchange goes on looking for the collar until the stage ends.
    }

    private mutating func receiveOffer(_ frame: Span<UInt8>, _ header: FrameHeader, _ request: Request) {
        let offered: KeyOffer?
        if case .proven(let deviceID, let key) = request {
            offered = open(frame, header, deviceID: deviceID, key: key).flatMap { try? KeyOffer($0.span) }
        } else {
            offered = try? KeyOffer(frame)
        }
        guard let offer = offered else { return }
        let deviceID = offer.log.deviceID
        switch request {
        case .proven: break
        case .first(let expected): guard deviceID == expected else { return }
        case .foreign:
            // A stranger at the port must not be able to replace a key.
            guard keys[deviceID]?.key == nil else {
                stage = .failed(.keyedCollarInClear(deviceID: deviceID))
                return
            }
        }
        stage = .storing(deviceID: deviceID, key: offer.key)
    }

    /// The clear form of a frame that is sealed like an identity; nil if it does not open with this key.
    private func open(_ frame: Span<UInt8>, _ header: FrameHeader, deviceID: DeviceID, key: CollarKey) -> [UInt8]? {
        guard header.flags.isSealed else { return nil }
        var isOpen = false
        let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
            isOpen = SealedFrame.openIdentity(
                frame, header: header, deviceID: deviceID, keys: SealingKeys(key, deviceID: deviceID), into: &output) != nil
        }
        return isOpen ? clear : nil
    }

    private mutating func queueIdentityRequest() {
        let request = IdentityRequest(receiverID: receiverID)
        queue { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try request.encode(address: Frame.broadcastAddress, into: &output)
        }
    }

    private mutating func queue(_ encode: (inout OutputSpan<UInt8>) throws(EncodeError) -> Void) {
        frames.append([UInt8](hostFrame: encode))
    }
}
