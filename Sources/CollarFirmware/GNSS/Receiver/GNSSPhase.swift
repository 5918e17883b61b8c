import CollarARQ

/// How far the configuration of a receiver is.
enum GNSSPhase: Equatable, Sendable {
    /// Switched off.
    case off
    /// The message that switches the receiver off is to be sent.
    case stopping
    /// A message of the configuration is to be sent, or waits for its answer.
    case configuring(Configuring)
    /// The receiver has accepted the configuration, or at least answered to it, at this time.
    case configured(since: Instant)
    /// The receiver does not answer, but works; or it takes no configuration. It is asked again at this time, if any.
    case asItIs(until: Instant?)

    /// A message of the configuration.
    struct Configuring: Equatable, Sendable {
        var step: ConfigurationStep
        /// How often the message was sent without an answer.
        var attempts: UInt8 = 0
        /// When the answer is late; nil if the message is to be sent.
        var deadline: Instant?
        /// When the first message of the configuration was due.
        let begin: Instant
    }
}
