import CollarARQ
import CollarWire

/// Requests of the host and presses of the button.
extension CollarDevice {
    /// How long a reset waits for the replies to be sent, in microseconds.
    private static var resetMicroseconds: Int64 { 10_000_000 }

    /// Receives one bare frame from the radio, and carries out what it asks for.
    /// - Returns: what the frame was. The caller gives a ``Collar/Reception/message(_:)`` to the application, and then calls
    ///   ``finish(requestID:outcome:now:)``. It has nothing to do for other results.
    public mutating func receive(_ frame: Span<UInt8>, now: Instant) throws(FlashError) -> Collar<Flash>.Reception {
        do throws(FlashError) {
            let reception = try collar.receive(frame, now: now)
            switch reception {
            case .command(let requestID, let action): try carryOut(action, requestID: requestID, now: now)
            case .settingsChanged: updatePolicy()
            default: break
            }
            return reception
        } catch { throw failed(error, now: now) }
    }

    /// Notes the outcome of a message that the application was given.
    public mutating func finish(
        requestID: UInt16, outcome: CommandResult.Outcome, now: Instant
    ) throws(FlashError) {
        do throws(FlashError) { try collar.finish(requestID: requestID, outcome: outcome) } catch { throw failed(error, now: now) }
    }

    /// Logs a message of the application.
    /// - Returns: the sequence of the message.
    public mutating func log(_ message: ApplicationMessage, now: Instant) throws(FixLogError) -> UInt32 {
        do throws(FixLogError) { return try collar.log(message) } catch {
            if case .flash(let cause) = error { _ = failed(cause, now: now) }
            throw error
        }
    }

    /// Receives one bare frame from the cable; see ``Collar/receiveFromCable(_:randomKey:now:)``. A new key makes a reset due.
    /// - Returns: whether an answer waits.
    public mutating func receiveFromCable(
        _ frame: Span<UInt8>, randomKey: CollarKey, now: Instant
    ) throws(FlashError) -> Bool {
        do throws(FlashError) {
            switch try collar.receiveFromCable(frame, randomKey: randomKey, now: now) {
            case .ignored: return false
            case .answered: return true
            case .keyChanged:
                resetDeadline = now
                return false
            }
        } catch {
            // The key may be stored, so the collar must start again.
            resetDeadline = now
            throw failed(error, now: now)
        }
    }

    /// Writes the next frame for the cable, if one is due.
    public mutating func nextCableFrame(into output: inout OutputSpan<UInt8>, now: Instant) throws(FlashError) -> Bool {
        do throws(FlashError) { return try collar.nextCableFrame(into: &output) } catch { throw failed(error, now: now) }
    }

    /// Notes whether the button is pressed.
    public mutating func buttonRead(isPressed: Bool, now: Instant) throws(FlashError) {
        if let press = button.update(isPressed: isPressed, now: now) { try obey(press, now: now) }
    }

    mutating func obey(_ press: ButtonDecoder.Press, now: Instant) throws(FlashError) {
        switch press {
        case .short: locate(nil, now: now)
        case .double:
            collar.openPairingWindow(now: now)
            signals.play(.success, now: now)
        case .long:
            do throws(FlashError) { try collar.setTracking(!collar.isTracking, now: now) } catch { throw failed(error, now: now) }
            try trackingChanged(now: now)
        }
    }

    private mutating func carryOut(
        _ action: Command.Action, requestID: UInt16, now: Instant
    ) throws(FlashError) {
        switch action {
        case .locateNow:
            if locating?.requestID != nil {
                try collar.finish(requestID: requestID, outcome: .busy)
            } else {
                locate(requestID, now: now)
            }
        case .sound(let milliseconds):
            signals.sound(milliseconds: milliseconds, now: now)
            try collar.finish(requestID: requestID, outcome: .ok)
        case .startTracking, .stopTracking: try trackingChanged(now: now)
        case .reboot: resetDeadline = now.advanced(byMicroseconds: Self.resetMicroseconds)
        case .pair, .unpair: signals.play(.success, now: now)
        }
    }

    private mutating func trackingChanged(now: Instant) throws(FlashError) {
        if !collar.isTracking { try finishLocating(.failed, now: now) }
        updateGNSSState()
        signals.play(collar.isTracking ? .start : .stop, now: now)
    }

    private mutating func locate(_ requestID: UInt16?, now: Instant) {
        locating = Locating(
            requestID: requestID ?? locating?.requestID, deadline: now.advanced(byMicroseconds: Self.locateMicroseconds))
        updateGNSSState()
    }

    mutating func finishLocating(_ outcome: CommandResult.Outcome, now: Instant) throws(FlashError) {
        guard let finished = locating else { return }
        locating = nil
        updateGNSSState()
        if outcome == .ok, finished.requestID == nil { signals.play(.success, now: now) }
        if outcome == .timeout { signals.play(.error, now: now) }
        guard let requestID = finished.requestID else { return }
        do throws(FlashError) { try collar.finish(requestID: requestID, outcome: outcome) } catch { throw failed(error, now: now) }
    }
}
