/// What must hold in every ``World``, after every step.
package enum Invariant: String, CaseIterable, Sendable {
    /// What an acknowledgement names is on the host's disk, at that moment and for ever.
    case acknowledgedIsDurable
    /// An id stands for one content only.
    case oneContentPerID
    /// What the host stores is what the collar logged, bit for bit.
    case storedIsLogged
    /// Nothing damaged is accepted.
    case damageIsRejected
    /// Nothing counts as lost that the collar can still send.
    case lossHasACause
    /// The collar counts only what its own receiver told it to be durable as delivered.
    case deliveredWasTold
    /// The collar overwrites undelivered fixes only when the ring is full.
    case overwritesOnlyWhenFull
    /// A durable fix stays in the log, and no sequence goes to a second fix.
    case logOnlyGrows
    /// A fix is sent only once it is durable, exactly as it was logged.
    case logBeforeAir
    /// Bytes of flash are programmed once between two erases.
    case programmedOnce
    /// Out of contact one frame a time-out, with an ask; time-outs double with every third; bursts end with an ask.
    case retransmissionDiscipline
    /// No frame is larger than the link allows.
    case frameFits
    /// No hour holds more airtime than is allowed.
    case dutyCycle
    /// A host answers no more asks than it has heard, sends nothing on a closed link, and nothing but *pair* to a collar of
    /// another receiver.
    case answerDiscipline
    /// A deadline that is reached leads to something.
    case deadlineIsUseful
    /// Memory stays bounded.
    case memoryIsBounded
    /// A command is executed at most once, and only for who may give it.
    case executedOnce
    /// Settings, tracking and receiver are those that the executed orders led to; versions of settings grow.
    case stateFollowsOrders
    /// A result or report tells what has happened.
    case resultIsTrue
    /// A command that a host has taken is known to it after every restart, until its end was told.
    case takenCommandIsKept
    /// A fix is stored once.
    case storedOnce
    /// Every fix that was acknowledged reaches the consumer, with one content.
    case acknowledgedIsEmitted
    /// If fixes are ordered a fix is emitted after all before it.
    case emissionIsInOrder
    /// A consumer that adds up fixes and gaps can tell of every sequence whether it is there or will never come.
    case completenessIsProvable
    /// After a restart emission goes on where it stopped: not before what a commit kept, not behind what was taken.
    case emissionGoesOn
    /// A receiver is the same after every restart.
    case receiverStaysItself
    /// Once the world is calm everything arrives, and both ends agree: also where a hostile sender has used up what a host keeps
    /// track of.
    case progress
    /// The programs do not refuse what they must do.
    case noRefusal
}

/// An ``Invariant`` that did not hold.
package struct Violation: Equatable, Sendable {
    /// Which.
    package let invariant: Invariant
    /// What was seen.
    package let text: String
    /// When, in microseconds of virtual time.
    package let microseconds: Int64
}
