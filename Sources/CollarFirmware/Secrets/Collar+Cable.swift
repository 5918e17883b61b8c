import CollarARQ
import CollarWire

/// The cable, over which a collar and a host agree on a new key (PROTOCOL.md, section 23).
extension Collar {
    /// Why a collar sends nothing and obeys nothing on its radio.
    enum Silence {
        /// It had a key and has none: a fault of its flash must not make it send in clear.
        case keyLost
        /// Its key has changed, and it has not been booted since.
        case bootDue
    }

    /// An exchange of keys that has begun.
    struct KeyExchange {
        let key: CollarKey
        /// Whether the host has shown that it has the present key.
        let isProven: Bool
    }

    /// The frame that is sent next on the cable.
    enum CableReply {
        case identity
        case keyOffer(KeyExchange)
    }

    /// The result of a frame from the cable.
    public enum CableReception: Equatable, Sendable {
        /// It is ignored.
        case ignored
        /// An identity request or a key request; its answer is the next frame of ``nextCableFrame(into:)``.
        case answered
        /// A key activation: the new key is stored. Boot the collar again now; until then it is silent.
        case keyChanged
    }

    /// Receives one bare frame from the cable. A cable is a serial line to one host, and no radio. Call this only for a port
    /// that carries nothing else.
    /// - Parameters:
    ///   - frame: the frame.
    ///   - randomKey: 16 fresh bytes of the board's entropy. They are the new key, if this frame begins an exchange.
    ///   - now: the time.
    /// - Throws: ``FlashError`` if the new key could not be stored; boot the collar again then, too.
    public mutating func receiveFromCable(
        _ frame: Span<UInt8>, randomKey: CollarKey, now: Instant
    ) throws(FlashError) -> CableReception {
        do throws(DecodeError) {
            let header = try FrameHeader(frame)
            guard isForThisCollar(header), silence != .bootDue else { return .ignored }
            switch CableFrame(header) {
            case .keyRequest:
                let proof = try CableFrame.decodeRequest(frame)
                return answer(proof, randomKey: randomKey, now: now)
            case .keyActivation:
                guard let exchange, isPairingWindowOpen(now: now) else { return .ignored }
                let proof = try CableFrame.decodeActivation(frame)
                guard proof.isEqual(to: .ofNewKey(exchange.key, deviceID: log.deviceID)) else { return .ignored }
            case .keyOffer: return .ignored
            case nil:
                guard header.type == .identityRequest, silence == nil else { return .ignored }
                _ = try HostFrame(decoding: frame, log: log)
                cableReply = .identity
                return .answered
            }
        } catch { return .ignored }
        return try changeKey()
    }

    private mutating func answer(_ proof: KeyProof?, randomKey: CollarKey, now: Instant) -> CableReception {
        guard isPairingWindowOpen(now: now) else { return .ignored }
        if let proof {
            guard let key = keyStore.key, proof.isEqual(to: .ofPresentKey(key, deviceID: log.deviceID)) else { return .ignored }
        } else {
            let wasNeverKeyed = keyStore.key == nil && silence == nil
            guard isButtonWindow || wasNeverKeyed else { return .ignored }
        }
        var offered = KeyExchange(key: randomKey, isProven: proof != nil)
        if let exchange, exchange.isProven == offered.isProven { offered = exchange }
        exchange = offered
        cableReply = .keyOffer(offered)
        return .answered
    }

    private mutating func changeKey() throws(FlashError) -> CableReception {
        guard let exchange else { return .ignored }
        silence = .bootDue
        self.exchange = nil
        sealing = nil
        cableReply = nil
        let former = max(keyStore.generation, UInt32(truncatingIfNeeded: settingsStore.value(of: .keyGeneration) ?? 0))
        try keyStore.replace(with: exchange.key, beginsLog: !exchange.isProven, after: former, in: &flash)
        return .keyChanged
    }

    /// Writes the next frame for the cable, if one is due.
    ///
    /// `output` is empty and has room for the largest frame.
    /// - Returns: whether a frame was written.
    public mutating func nextCableFrame(into output: inout OutputSpan<UInt8>) throws(FlashError) -> Bool {
        guard let reply = cableReply else { return false }
        cableReply = nil
        frameBinding = .none
        switch reply {
        case .identity: encodeIdentity(flags: FrameFlags(poll: nil), into: &output)
        case .keyOffer(let exchange):
            let offer = KeyOffer(log: log, bootCount: bootCount, key: exchange.key)
            do throws(EncodeError) { try offer.encode(address: configuration.address, into: &output) } catch {
                preconditionFailure("an offer fits the smallest frame")
            }
            // To a host that has not shown that it has the present key, a sealed offer would say nothing.
            guard exchange.isProven else { return true }
        }
        try seal(&output)
        return true
    }
}
