import CollarARQ
import CollarJournal
import CollarWire

/// A command to a collar and what became of it.
public struct CommandReport: Equatable, Sendable {
    /// What became of it.
    public enum State: Equatable, Sendable {
        /// It is stored durably, and goes out when the collar is heard.
        case queued
        /// It has ended.
        case ended(OutgoingRequests.End)
    }

    /// The collar's factory id.
    public var deviceID: UInt64
    /// Its id on the air.
    public var requestID: UInt16
    /// The command.
    public var request: HostRequest
    /// What became of it.
    public var state: State
    /// Where the command asked for the settings and the collar told them: the settings, in the order of their keys.
    public var settings: [Setting] = []
}

/// How long a command may wait for its collar.
public enum CommandPatience: Equatable, Sendable {
    /// Until the collar is heard, for a week, also over restarts.
    case untilHeard
    /// As ``untilHeard``; commands of the same kind that were never sent are given up.
    case latest
    /// No longer than this, in milliseconds, and only while the collar is in contact.
    case now(milliseconds: Int64)
}

/// Why a command is not taken.
public enum CommandRefusal: Error, Equatable, Sendable {
    /// The collar was never heard here; the collars that were.
    case unknownCollar(deviceID: UInt64, known: [UInt64])
    /// No collar was ever heard here.
    case noCollar
    /// The command names no collar and there are several.
    case whichCollar(known: [UInt64])
    /// The collar belongs to another receiver.
    case pairedElsewhere(deviceID: UInt64)
    /// No radio is open, and the command is not to wait for one.
    case noRadio(deviceID: UInt64)
    /// The collar is not heard, and the command is not to wait for it.
    case noContact(deviceID: UInt64)
    /// As many commands wait as may, or an open one is eight ids old.
    case queueFull(deviceID: UInt64)
    /// The collar's settings have the highest version there is.
    case noVersion(deviceID: UInt64)
    /// No command of this id is known, or it ended long ago.
    case unknownRequest(deviceID: UInt64, requestID: UInt16)
    /// The command could not be made durable.
    case storage(deviceID: UInt64, JournalError)

    /// The collar it is about; nil where none was found.
    public var deviceID: UInt64? {
        switch self {
        case .unknownCollar(let deviceID, _), .pairedElsewhere(let deviceID), .noRadio(let deviceID), .noContact(let deviceID),
            .queueFull(let deviceID), .noVersion(let deviceID), .unknownRequest(let deviceID, _), .storage(let deviceID, _):
            deviceID
        case .noCollar, .whichCollar: nil
        }
    }
}
