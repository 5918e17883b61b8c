import CollarJournal
import CollarWire

extension GapChange {
    /// The change of a gap as one line of JSON that ends with a line feed; `Protocol/schema/gap.schema.json` describes it.
    package func line(deviceID: DeviceID, name: String? = nil) -> [UInt8] {
        var object = JSONLine(type: "gap", unixMilliseconds: unixMilliseconds)
        object.add("event", event.rawValue)
        object.add("collar", deviceID.description)
        object.add("log", logID.rawValue)
        object.add("first_seq", range.first)
        object.add("last_seq", range.last)
        if let name { object.add("name", name) }
        return object.line
    }
}

extension JournaledMessage {
    /// When the collar made the message, in milliseconds since 1970; where the collar did not know, when it was received.
    package var unixMilliseconds: Int64 {
        let seconds = message.content.unixSeconds
        return seconds == 0 ? receivedUnixMilliseconds : Int64(seconds) * 1000
    }

    /// The message as one line of JSON that ends with a line feed; `Protocol/schema/message.schema.json` describes it.
    package func line(deviceID: DeviceID, name: String? = nil) -> [UInt8] {
        let content = message.content
        var object = JSONLine(type: "message")
        object.add("id", FixIdentifier(deviceID: deviceID, logID: logID, sequence: message.sequence).text)
        object.add("kind", content.kind.name)
        object.add("code", content.code)
        if case .reply(let request, let outcome) = content.kind {
            object.add("reply_to", request)
            object.add("outcome", "\(outcome)")
        }
        object.add("ts_unix_ms", content.unixSeconds == 0 ? nil : Int64(content.unixSeconds) * 1000)
        object.add("data", String(hexadecimal: content.data))
        object.add("seq", message.sequence)
        object.add("collar", deviceID.description)
        object.add("log", logID.rawValue)
        object.add("rx_unix_ms", receivedUnixMilliseconds)
        if let signal {
            object.add("rssi_dbm", signal.strengthDBm)
            if let ratio = signal.signalToNoiseTenthsDB { object.add("snr_db", number: MessageDescription.decimal(Int64(ratio), 1)) }
        }
        if let name { object.add("name", name) }
        return object.line
    }
}

extension ApplicationMessage.Kind {
    package var name: String {
        switch self {
        case .notice: "notice"
        case .request: "request"
        case .reply: "reply"
        }
    }
}
