import CheckedNumbers
import CollarErrors
import CollarJournal
import CollarReceiver
import CollarWire

extension ParsedArguments {
    /// The message of `send message CODE [TEXT]`, from its operands after `message`, and its options.
    func message(_ words: ArraySlice<String>) throws(CommandFailure) -> ApplicationMessage {
        guard let codeText = words.first, let code = UInt8(codeText, in: 0 ... .max) else {
            throw CommandFailure(.usage, "message needs a code from 0 to 255: message CODE [TEXT]")
        }
        guard words.count <= 2 else {
            throw CommandFailure(.usage, "message takes one text", remedy: "Quote a text with spaces: 'come home'.")
        }
        let text = words.dropFirst().first
        guard text == nil || !has("--data") else {
            throw CommandFailure.excluding("the text", "--data", remedy: "Leave out the text to send bytes, or `--data` to send the text.")
        }
        guard let data = value("--data").map({ [UInt8](hexadecimal: $0) }) ?? Array((text ?? "").utf8) else {
            throw CommandFailure(.usage, "--data \(value("--data") ?? ""): expected hexadecimal digits, two for each byte")
        }
        guard let message = ApplicationMessage(kind: try messageKind(), code: code, unixSeconds: 0, data: data.span) else {
            throw CommandFailure(
                .usage, "a message has at most \(ApplicationMessage.dataLimit) bytes, and this one has \(data.count)")
        }
        return message
    }

    private func messageKind() throws(CommandFailure) -> ApplicationMessage.Kind {
        let outcomeText = value("--outcome")
        guard let request = try integer("--reply-to", in: 0...Int(UInt32.max)) else {
            guard outcomeText == nil else { throw CommandFailure(.usage, "--outcome goes with --reply-to") }
            return has("--wants-reply") ? .request : .notice
        }
        guard !has("--wants-reply") else {
            throw CommandFailure.excluding(
                "--reply-to", "--wants-reply", remedy: "Leave out `--wants-reply` to send a reply, or `--reply-to` to ask for one.")
        }
        guard let outcome = CommandResult.Outcome(name: outcomeText ?? "ok") else {
            throw CommandFailure(
                .usage, "--outcome \(outcomeText ?? ""): expected \(CommandResult.Outcome.nameList)"
                    + Suggestion.text(for: outcomeText ?? "", among: CommandResult.Outcome.names))
        }
        return .reply(to: UInt32(request), outcome)
    }
}
