/// A message to a person: an event, and a remedy.
public struct UserMessage: Equatable, Sendable {
    /// The code of the error, for programs; nil if the message reports no error.
    public var code: ErrorCode?
    /// What happened, in one sentence.
    public var reason: String
    /// A step that the person can take, with the command for it if one exists; nil if no step is known.
    public var remedy: String?

    init(_ code: ErrorCode?, _ reason: String, _ remedy: String? = nil) {
        self.code = code
        self.reason = reason
        self.remedy = remedy
    }
}
