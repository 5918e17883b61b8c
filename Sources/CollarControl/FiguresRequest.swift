import CollarFormats

/// A request for the figures of the receiver, which goes to no collar: one line of JSON. The answer is one line of
/// ``ReceiverFigures``.
///
///     {"type":"request","do":"figures"}
package enum FiguresRequest {
    private static let verb = "figures"

    /// The request as a line that ends with a line feed.
    package static var line: [UInt8] {
        var object = JSONLine(type: "request")
        object.add("do", verb)
        return object.line
    }

    /// Whether a line is this request; false for any other line, right or wrong.
    /// - Throws: a fault if the line has members that this request has not.
    package static func isIn(_ line: [UInt8]) throws(ControlRequest.Fault) -> Bool {
        let object: JSONValue
        do throws(JSONSyntaxError) { object = try JSONScanner.value(of: line) } catch { return false }
        guard case .object(let members) = object, object["do"]?.text == verb else { return false }
        for member in members where member.key != "do" && !(member.key == "type" && member.value == .string("request")) {
            throw ControlRequest.Fault(reason: "\"\(member.key)\" is not expected here")
        }
        return true
    }
}

/// What a receiver says to a request for its figures.
package enum FiguresAnswer: Equatable, Sendable {
    /// The figures.
    case figures(ReceiverFigures)
    /// The receiver refuses to tell them, for this reason.
    case refused(reason: String)
    /// No answer has come.
    case none
}

extension ControlConnection {
    /// Asks the receiver for its figures.
    /// - Parameter end: until when to wait for the answer, a time of ``MonotonicClock``.
    package func figures(untilMicroseconds end: Int64) -> FiguresAnswer {
        send(FiguresRequest.line)
        guard case .line(let line) = nextLine(untilMicroseconds: end) else { return .none }
        if let figures = ReceiverFigures(line: line) { return .figures(figures) }
        return ResultLine(bytes: line)?.reason.map { .refused(reason: $0) } ?? .none
    }
}
