import CollarErrors

extension UserMessage {
    /// An error whose remedy follows from its code and its collar: the receiver gives it, and `doctor` gives it again.
    /// - Parameter deviceID: the factory id of the collar; nil if it is not known.
    package init(_ code: ErrorCode, _ reason: String, ofCollar deviceID: UInt64?) {
        switch code {
        case .pairedElsewhere:
            self.init(
                code, reason, running: deviceID.map { .send("pair", to: $0) } ?? ShellCommand("collar-link", "send", "pair")
            ) {
                "Receive where it belongs to (machine and `--state-dir`). Or have it belong here: press its button twice, or switch it off "
                    + "and on, and run \($0) within a minute."
            }
        case .keyMissing, .keyRejected:
            self.init(
                code, reason,
                "If it is yours, give the key that it has: `collar-link key add ID FILE`. Or make a new one over its cable: "
                    + "`collar-link key exchange --port PATH`.")
        case .keyLost:
            let name = deviceID.map { MessageDescription.hexadecimal($0) } ?? "ID"
            self.init(
                code, reason,
                "Restore the file of the key, or give the key again: `collar-link key add \(name) FILE`. If the collar has no key any "
                    + "more: `collar-link key remove \(name)`.")
        case .collarRestarted:
            self.init(
                code, reason,
                "If its memory was erased: `collar-link key accept-restart \(deviceID.map { MessageDescription.hexadecimal($0) } ?? "ID") "
                    + "LOG`, with the log that the message names.")
        case .radioSettingRefused:
            self.init(code, reason, "Choose settings that the stick's radio has; it is tried again every minute.")
        case .unknownRadio:
            self.init(
                code, reason,
                "Name the port of the radio: `--port PATH`. Or put MeshCore's KISS modem or RNode firmware on the board.")
        default: self.init(code, reason, nil)
        }
    }
}
