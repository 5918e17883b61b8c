/// The rules that must hold in every ``World``, after every step.
package enum Invariant: String, CaseIterable, Sendable {
    /// A sequence that an acknowledgement covers is on the host's disk, at that moment and from then on, as a fix or as a loss.
    case acknowledgedIsDurable
    /// An id has only one content.
    case oneContentPerID
    /// A fix that the host stores is the one that the collar logged, bit for bit.
    case storedIsLogged
    /// No damaged frame is accepted.
    case damageIsRejected
    /// With keys, no nonce is used for two frames, and no frame is accepted that was not sealed with the key, was accepted
    /// before, or comes from a sender of the receiver's own kind.
    case sealIsKept
    /// A fix that the collar can still send does not count as lost.
    case lossHasACause
    /// The collar counts as delivered only the fixes that its own receiver acknowledged as durable.
    case deliveredWasTold
    /// The collar overwrites undelivered fixes only when the ring is full.
    case overwritesOnlyWhenFull
    /// A durable fix stays in the log, and no sequence is given to a second fix.
    case logOnlyGrows
    /// A fix is sent only once it is durable, exactly as it was logged.
    case logBeforeAir
    /// Bytes of flash are programmed once between two erases.
    case programmedOnce
    /// Out of contact the collar sends one frame after each time-out, with a poll. With every third unanswered poll the
    /// time-out doubles. Bursts end with a poll.
    case retransmissionDiscipline
    /// No frame is larger than the link allows.
    case frameFits
    /// No hour holds more airtime than the duty cycle allows.
    case dutyCycle
    /// A host answers no more polls than it has heard and sends nothing on a closed link. To a collar of another receiver it
    /// sends only *pair*.
    case answerDiscipline
    /// A stick sends only with the settings that were chosen for it.
    case sticksAreSetUp
    /// A stick sends only packets that its host handed out, and each once.
    case sticksSendOnce
    /// A deadline that is reached leads to a frame or to a later deadline.
    case deadlineIsUseful
    /// The memory of a host stays bounded.
    case memoryIsBounded
    /// A command is executed at most once, and only if its sender has the right to give it.
    case executedOnce
    /// Settings, tracking and receiver follow from the executed requests; versions of settings grow.
    case stateFollowsRequests
    /// A result or a settings report tells what has happened, and no status tells of a loss of settings that did not happen.
    case resultIsTrue
    /// A host knows every command that it accepted after every restart, until it has reported the end of the command.
    case takenCommandIsKept
    /// A fix is stored only once.
    case storedOnce
    /// Every stored fix reaches the consumer, with one content.
    case acknowledgedIsEmitted
    /// If fixes are sorted, a fix is emitted after all fixes with lower sequences.
    case emissionIsInOrder
    /// A consumer that adds up fixes and gap lines knows of every sequence whether it is there or will never come.
    case completenessIsProvable
    /// After a restart emission continues where it stopped: not before the cursor that a commit kept, and not after what was
    /// taken.
    case emissionGoesOn
    /// Every stored fix reaches every named reader, whatever happens to the reader, to the host and to the machine.
    case readersGetEverything
    /// A named reader goes on at its stored position, and that position names only records that the disk keeps.
    case readersGoOn
    /// A named reader is told of each alert that its fixes make in their order, and of no other.
    case alertsAreTrue
    /// What a consumer lacks is removed only on request, and this is reported.
    case unreadIsKept
    /// A receiver keeps its id after every restart.
    case receiverStaysItself
    /// Once the world is calm, everything arrives and both ends agree, even if a hostile sender has used up the logs and ranges
    /// that a host keeps track of.
    case progress
    /// A stranger's port is never opened, a line is open once, what can be opened is opened, and what cannot is reported once.
    case portsAreServed
    /// The receiver of a collar has its supply, its radio listens, and the collar is heard, as its settings and requests say.
    case scheduleIsKept
    /// Collars that share a channel are all heard, wait as long as they must, keep their turns, and are told how many they are.
    case channelIsShared
    /// The programs do not refuse what they must accept.
    case noRefusal
}

/// An ``Invariant`` that did not hold.
package struct Violation: Equatable, Sendable {
    /// The invariant.
    package let invariant: Invariant
    /// What was seen.
    package let text: String
    /// When it was seen, in microseconds of virtual time.
    package let microseconds: Int64
}
