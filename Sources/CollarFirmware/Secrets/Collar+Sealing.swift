import CollarARQ
import CollarWire

/// The frames of a collar with a key.
extension Collar {
    /// Seals the frame that is sent next, if the collar has a key. A probe replaces a frame that does not fit the link when sealed.
    /// - Throws: ``FlashError`` if the counter is used up and the next boot count cannot be stored; nothing may be sent then.
    mutating func seal(_ frame: inout OutputSpan<UInt8>) throws(FlashError) {
        guard let sealing else { return }
        if sealing.isCounterUsedUp {
            let next = bootCount + 1
            try settingsStore.set(.bootCount, to: UInt64(widening: next), in: &flash)
            bootCount = next
            self.sealing?.restart(bootCount: next)
        }
        if !isRoomToSeal(frame) {
            // With the whole counter, a report or a status may not fit the smallest limit of a link. The host asks for a report
            // again.
            let flags = FrameFlags(rawValue: frame.span[1] & FrameFlags.pollMask)
            frame.removeAll()
            frameBinding = .none
            encodeProbe(flags: flags, into: &frame)
        }
        self.sealing?.seal(&frame, binding: frameBinding)
    }

    /// Whether the sealed form of a frame fits the link.
    mutating func isRoomToSeal(_ frame: borrowing OutputSpan<UInt8>) -> Bool {
        guard let sealing else { return true }
        return frame.count + sealing.overheadByteCount(of: frame.span) <= configuration.maximumFrameByteCount
    }

    /// Receives a frame, sealed or not, that is for this collar.
    mutating func receive(
        _ frame: Span<UInt8>, header: FrameHeader, now: Instant
    ) throws(FlashError) -> Reception {
        guard let type = header.type else { return .rejected(.unknownType(header.typeCode)) }
        guard header.flags.isSealed else {
            guard sealing != nil else { return try receiveClear(frame, now: now) }
            guard type == .identityRequest else { return .notSealed }
            return try receiveClear(frame, now: now)
        }
        var isOpen = false
        var byteCount = 0
        let bytes = InlineArray<64, UInt8> { (output: inout OutputSpan<UInt8>) in
            isOpen = sealing?.open(frame, header: header, type: type, receiverID: pairedReceiverID, into: &output) ?? false
            byteCount = output.count
            while output.freeCapacity > 0 { output.append(0) }
        }
        guard isOpen else { return .rejected(.sealed) }
        return try receiveClear(bytes.span.extracting(0..<byteCount), now: now)
    }

    /// Receives a request for the identity.
    mutating func receiveIdentityRequest(now: Instant) -> Reception {
        if sealing != nil {
            // Anybody can send this request, so it must not end an open poll.
            guard clearRequests.take(at: now) else { return .notSealed }
            delivery.identityRequested(endsPoll: false)
        } else {
            delivery.identityRequested()
        }
        isStatusWanted = true
        return .identityRequest
    }
}
