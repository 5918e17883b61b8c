import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal

extension ReceiverAccess {
    /// Asks the running receiver for its figures.
    /// - Throws: with `noReceiver` if none runs, and with `notPermitted` if it answers other users only.
    func figures() async throws(UserFacingError) -> ReceiverFigures {
        let link = try await connect()
        link.send(FiguresRequest.line)
        switch await link.nextLine(until: time.instant.advanced(byMicroseconds: 5_000_000)) {
        case .line(let line):
            if let figures = ReceiverFigures(line: line) { return figures }
            let refusal = ResultLine(bytes: line)
            throw UserFacingError(
                refusal?.code.flatMap(ErrorCode.init) ?? .controlFailing,
                reason: refusal?.reason ?? "The running collar-link answers with a line that is not known here.")
        case .timeout: throw UserFacingError(.controlFailing, reason: "The running collar-link does not answer.")
        case .closed: throw UserFacingError(.absent)
        }
    }
}
