import CollarJournal
import CollarWire

/// Fixes of one collar and one animal whose sequences follow one another: a segment of a track.
struct FixRun {
    let deviceID: DeviceID
    let animal: Animal?
    private let logID: LogID
    /// The sequence that continues the run.
    private var next: UInt32

    init(_ received: ReceivedFix, _ animal: Animal?) {
        deviceID = received.deviceID
        self.animal = animal
        logID = received.logID
        next = received.fix.sequence &+ 1
    }

    /// Takes a fix that continues the run.
    /// - Returns: false if the fix does not continue it.
    mutating func take(_ received: ReceivedFix, _ animal: Animal?) -> Bool {
        guard received.deviceID == deviceID, received.logID == logID, received.fix.sequence == next, animal == self.animal else { return false }
        next &+= 1
        return true
    }

    /// Takes a message: messages and fixes share the sequences of a log, so where a message stands, no fix is missing.
    mutating func take(_ message: JournaledMessage, of deviceID: DeviceID) {
        if deviceID == self.deviceID, message.logID == logID, message.message.sequence == next { next &+= 1 }
    }
}
