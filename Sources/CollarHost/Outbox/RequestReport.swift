import CollarARQ
import CollarJournal
import CollarWire

/// A request to a collar, and its state.
package struct RequestReport: Equatable, Sendable {
    /// The state of a request.
    package enum State: Equatable, Sendable {
        /// It is stored durably and goes out when the collar is heard.
        case queued
        /// It has ended.
        case ended(OutgoingRequests.End)
    }

    /// The collar's factory id.
    package var deviceID: UInt64
    /// The request's id on the air.
    package var requestID: UInt16
    /// The request.
    package var request: HostRequest
    /// The request's state.
    package var state: State
    /// The settings that the collar reported, in the order of their keys; empty unless the request asked for them.
    package var settings: [Setting] = []
}

/// Why a request is not accepted.
package enum RequestRefusal: Error, Equatable, Sendable {
    /// The collar was never heard here; `known` lists the collars that were.
    case unknownCollar(deviceID: UInt64, known: [UInt64])
    /// No collar was ever heard here.
    case noCollar
    /// The request names no collar and there are several.
    case whichCollar(known: [UInt64])
    /// The collar belongs to another receiver.
    case pairedElsewhere(deviceID: UInt64)
    /// The collar belongs to nobody, because this receiver released it: it obeys nothing but the command *pair*.
    case notPaired(deviceID: UInt64)
    /// No radio is open, and the request must not wait for one.
    case noRadio(deviceID: UInt64)
    /// The collar is not heard, and the request must not wait for it.
    case noContact(deviceID: UInt64)
    /// The queue is full, or the new id would be seven or more above the id of an open request.
    case queueFull(deviceID: UInt64)
    /// The collar's settings already have the highest possible version.
    case noVersion(deviceID: UInt64)
    /// No request of this id is known, or it ended long ago.
    case unknownRequest(deviceID: UInt64, requestID: UInt16)
    /// The request could not be made durable.
    case storage(deviceID: UInt64, JournalError)

    /// The collar that the request is for; nil if none was found.
    package var deviceID: UInt64? {
        switch self {
        case .unknownCollar(let deviceID, _), .pairedElsewhere(let deviceID), .notPaired(let deviceID), .noRadio(let deviceID),
            .noContact(let deviceID),
            .queueFull(let deviceID), .noVersion(let deviceID), .unknownRequest(let deviceID, _), .storage(let deviceID, _):
            deviceID
        case .noCollar, .whichCollar: nil
        }
    }
}
