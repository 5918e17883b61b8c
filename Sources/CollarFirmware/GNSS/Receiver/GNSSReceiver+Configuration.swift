import CollarARQ
import CollarWire

extension GNSSReceiver {
    /// Bytes of the longest command.
    public static var longestCommandByteCount: Int { UBXCommand.longestByteCount }

    /// Appends the next command to the receiver, if one is due.
    /// - Parameters:
    ///   - now: the time.
    ///   - output: room for ``longestCommandByteCount`` bytes.
    /// - Returns: whether there is a command.
    public mutating func nextCommand(now: Instant, into output: inout OutputSpan<UInt8>) -> Bool {
        guard Dialect.takesConfiguration else { return false }
        switch phase {
        case .off, .configured, .asItIs:
            return false
        case .stopping:
            UBXCommand.powerOff(isByKeys: isByKeys).write(into: &output)
            phase = .off
            return true
        case .configuring(var configuring):
            guard configuring.deadline == nil else { return false }
            configuring.step.command(settings).write(into: &output)
            configuring.deadline = now.advanced(byMicroseconds: Self.answerMicroseconds)
            phase = .configuring(configuring)
            return true
        }
    }

    /// Begins the configuration.
    mutating func configure(now: Instant) {
        hasRefused = false
        isByKeys = true
        phase = Dialect.takesConfiguration
            ? .configuring(GNSSPhase.Configuring(step: .outputs, begin: now)) : .asItIs(until: nil)
    }

    /// When ``checkConfiguration(now:)`` has something to do.
    var configurationDeadline: Instant? {
        switch phase {
        case .off, .stopping: nil
        case .configuring(let configuring): configuring.deadline
        case .configured: lastEvent.advanced(byMicroseconds: silenceMicroseconds)
        case .asItIs(let until): until
        }
    }

    /// Repeats a message without an answer, and configures a receiver anew that has become silent.
    mutating func checkConfiguration(now: Instant) {
        guard let deadline = configurationDeadline, now >= deadline else { return }
        guard case .configuring(var configuring) = phase else { return configure(now: now) }
        configuring.attempts &+= 1
        configuring.deadline = nil
        if configuring.attempts < Self.attemptLimit {
            phase = .configuring(configuring)
        } else if configuring.step != .outputs {
            // The receiver answered before, so it has been switched off meanwhile.
            configure(now: now)
        } else if lastEvent > configuring.begin {
            phase = .asItIs(until: now.advanced(byMicroseconds: Self.retryMicroseconds))
        } else {
            configure(now: now)
        }
    }

    /// Goes on with the configuration after an answer of the receiver, or begins it again if the receiver has forgotten it.
    mutating func noteConfiguration(_ event: GNSSEvent, now: Instant) {
        switch phase {
        case .off, .stopping, .asItIs:
            break
        case .configured(let since):
            // NMEA was switched off; a sentence may have been under way.
            let isLate = now > since.advanced(byMicroseconds: Self.answerMicroseconds)
            if dialect.isLastEventNMEA, isLate, !hasRefused { configure(now: now) }
        case .configuring(let configuring):
            guard case .answer(configuring.step.type, let isAccepted) = event, configuring.deadline != nil else { return }
            goOn(after: configuring, isAccepted: isAccepted, now: now)
        }
    }

    private mutating func goOn(after configuring: GNSSPhase.Configuring, isAccepted: Bool, now: Instant) {
        if !isAccepted {
            if configuring.step == .outputs {
                isByKeys = false
                phase = .configuring(GNSSPhase.Configuring(step: .firstOfOldReceivers, begin: now))
                return
            }
            if !configuring.step.isDispensable(settings) { hasRefused = true }
        }
        guard let next = configuring.step.next(settings) else {
            phase = .configured(since: now)
            return
        }
        phase = .configuring(GNSSPhase.Configuring(step: next, begin: now))
    }

    /// A receiver answers within a second.
    private static var answerMicroseconds: Int64 { 1_000_000 }
    /// A receiver that was just switched on does not hear the first messages.
    private static var attemptLimit: UInt8 { 5 }
    private static var retryMicroseconds: Int64 { 60_000_000 }
}
