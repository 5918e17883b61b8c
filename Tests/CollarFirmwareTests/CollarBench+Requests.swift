import CollarARQ
import CollarFirmware
import CollarWire
import Testing

typealias Reception = Collar<SharedFlash>.Reception

extension CollarBench {
    /// A collar that is paired with receiver 77, which has acknowledged every fix.
    static func paired(
        fixes: UInt32 = 3, flash: TestFlash = TestFlash(), capabilities: Capabilities = .sounder,
        sendsLiveFixes: Bool = false
    ) throws -> CollarBench {
        var bench = try CollarBench(flash: flash, capabilities: capabilities, sendsLiveFixes: sendsLiveFixes)
        try bench.log(0..<fixes)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(fixes, poll: 1) == .acknowledgement(.answer))
        return bench
    }

    mutating func command(
        _ requestID: UInt16, _ action: Command.Action, by receiver: UInt32 = 77
    ) throws -> Reception {
        let command = Command(requestID: requestID, receiverID: receiver, action: action)
        let log = collar.log
        return try receive([UInt8](capacity: 253) { output in try command.encode(address: 9, log: log, into: &output) })
    }

    mutating func update(_ requestID: UInt16, version: UInt64, _ settings: KeyValuePairs<UInt8, UInt32>) throws -> Reception {
        var entries = SettingList()
        for (key, value) in settings { entries.append(Setting(key: key, value: value)) }
        let update = Settings(
            direction: .update, requestID: requestID, version: SettingsVersion(rawValue: version), entries: entries)
        let log = collar.log
        return try receive(
            [UInt8](capacity: 253) { output in
                try update.encode(address: 9, flags: FrameFlags(poll: nil), log: log, into: &output)
            })
    }

    mutating func askForSettings(_ requestID: UInt16) throws -> Reception {
        let log = collar.log
        return try receive(
            [UInt8](capacity: 253) { output in
                try SettingsRequest(requestID: requestID).encode(address: 9, log: log, into: &output)
            })
    }

    mutating func askForIdentity() throws -> Reception {
        try receive(
            [UInt8](capacity: 253) { output in try IdentityRequest(receiverID: 77).encode(address: 9, into: &output) })
    }

    /// Answers the last poll with an acknowledgement of every fix, and lets the collar send the frames that are due then.
    /// - Returns: the messages in these frames.
    mutating func answered(by receiver: UInt32 = 77) throws -> [Message] {
        #expect(try acknowledge(collar.nextSequence, poll: lastPoll, receiver: receiver) == .acknowledgement(.answer))
        return try sendAll().map(\.message)
    }
}

func result(_ requestID: UInt16, _ outcome: CommandResult.Outcome) -> Message {
    .commandResult(CommandResult(requestID: requestID, outcome: outcome))
}

/// The settings in the reports with this request id and version, by key.
func reported(_ messages: [Message], _ requestID: UInt16, version: UInt64) -> [UInt8: UInt32] {
    var settings: [UInt8: UInt32] = [:]
    for case .settings(let report) in messages
    where report.direction == .report && report.requestID == requestID && report.version.rawValue == version {
        for index in 0..<report.entries.count { settings[report.entries[index].key] = report.entries[index].value }
    }
    return settings
}

let defaultSettings: [UInt8: UInt32] = [
    1: 500, 2: 1000, 3: 2000, 4: 5000, 5: 500, 6: 500, 7: 30, 8: 60, 9: 5, 10: 0, 11: 500, 12: 5000, 13: 0, 14: 0, 15: 0,
]
