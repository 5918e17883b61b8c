import CollarErrors
import CollarWire

/// A payload whose meaning a code tells, on which the program and the application in the collar agree. It can be sent as a notice, which
/// has no answer: ``Collar/post(_:delivery:retry:)``.
///
///     struct Feed: CodedMessage {
///         static let code: UInt8 = 7
///         …
///     }
public protocol CodedMessage: MessagePayload {
    /// The code, 0 … 254. The code 255 belongs to ``SharedState``.
    static var code: UInt8 { get }
}

/// A message that is answered: by the application in the collar (``Collar/send(_:delivery:timeout:retry:)``), or by the program
/// (``Collar/register(_:as:answer:)``).
public protocol CollarRequest: CodedMessage {
    /// The value in the reply. It travels under the code of the request.
    associatedtype Response: MessagePayload
}

extension CodedMessage {
    /// Checks what is the same for all values of the type.
    static func check() throws(UserFacingError) {
        guard code != SharedStateMessage.code else {
            throw UserFacingError(
                .badRequest, reason: "The code \(code) of \(Self.self) is reserved for shared states.",
                remedy: "Give the type a code from 0 to \(SharedStateMessage.code - 1).")
        }
        try checkSize()
    }

    /// The message that carries the value.
    func message(_ kind: ApplicationMessage.Kind) throws(UserFacingError) -> ApplicationMessage {
        try Self.check()
        return try message(kind, code: Self.code)
    }
}

extension CollarRequest {
    static func checkWithResponse() throws(UserFacingError) {
        try check()
        try Response.checkSize()
    }
}

extension MessagePayload {
    fileprivate static func checkSize() throws(UserFacingError) {
        guard (0...ApplicationMessage.dataLimit).contains(maximumByteCount) else { throw UserFacingError(tooLong: Self.self, maximumByteCount) }
    }

    /// The message that carries the value under a code. The receiver sets its time.
    func message(_ kind: ApplicationMessage.Kind, code: UInt8) throws(UserFacingError) -> ApplicationMessage {
        let data = payload
        guard let message = ApplicationMessage(kind: kind, code: code, unixSeconds: 0, data: data.span) else {
            throw UserFacingError(tooLong: Self.self, data.count)
        }
        return message
    }
}

extension UserFacingError {
    /// - Parameter limit: the most bytes that fit.
    init(tooLong type: Any.Type, _ count: Int, limit: Int = ApplicationMessage.dataLimit) {
        self.init(
            .badRequest, reason: "A value of \(type) has \(count) bytes, and at most \(limit) fit.", remedy: "Make the value shorter.")
    }
}

extension ApplicationMessage {
    /// The data as an array.
    var bytes: [UInt8] { data.indices.map { data[$0] } }
}
