import CollarFormats
import CollarErrors
import CollarHost

extension RequestRefusal: MessageError {
    /// The refusal, for a person.
    package var message: UserMessage {
        let (code, reason): (ErrorCode, String) =
            switch self {
            case .unknownCollar(let deviceID, let known):
                (.unknownCollar, "\(collarName(deviceID)) was never heard here; known: \(known.isEmpty ? "none" : list(known))")
            case .noCollar: (.noCollar, "no collar was ever heard here")
            case .whichCollar(let known): (.whichCollar, "which collar? There are \(list(known))")
            case .pairedElsewhere:
                (.pairedElsewhere, "the collar belongs to another receiver: it must be paired with this one first")
            case .notPaired(let deviceID): (.notPaired, "\(collarName(deviceID)) belongs to nobody: it must be paired first")
            case .noRadio: (.noRadio, "no radio is open")
            case .noContact: (.noContact, "the collar is not heard now")
            case .queueFull: (.queueFull, "too many requests to the collar wait")
            case .noVersion: (.noVersion, "the collar's settings have the highest version there is")
            case .unknownRequest(_, let requestID):
                (.unknownRequest, "request \(requestID) is not known, or ended long ago")
            case .storage(_, let error): (.storageFailing, error.message.reason)
            }
        return UserMessage(code, reason, code.requestRemedy)
    }

    private func list(_ collars: [UInt64]) -> String {
        collars.map { MessageDescription.hexadecimal($0) }.joined(separator: ", ")
    }
}
