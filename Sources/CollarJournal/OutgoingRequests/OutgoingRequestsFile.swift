import CheckedNumbers
import CollarARQ
import CollarWire

/// Keeps ``OutgoingRequests`` in `<state directory>/<device id>/requests`. Only the holder of the collar's journal may use
/// it.
///
/// The file is replaced as a whole: after a crash at any point either the old or the new one is there.
package struct OutgoingRequestsFile {
    package enum Contents: Equatable, Sendable {
        case missing
        case intact(OutgoingRequests)
        /// The file is damaged, of a later version, or of another collar or receiver.
        case unusable
    }

    /// The most bytes that are read; this program never writes a larger file.
    private static let byteLimit = 1 << 13

    private let directory: JournalDirectory
    private let fileSystem: any FileSystem

    /// Refers to the file in a collar's directory. The directory must exist; the file may be missing.
    package init(in directory: JournalDirectory, fileSystem: (any FileSystem)? = nil) {
        self.directory = directory
        self.fileSystem = fileSystem ?? POSIXFileSystem(stateDirectory: directory.stateDirectory)
    }

    package var path: String { "\(directory.path)/requests" }

    /// The path to which ``setAside()`` moves a file that cannot be used.
    package var asidePath: String { "\(path).unusable" }

    package func load(deviceID: UInt64, receiverID: UInt32) throws(JournalError) -> Contents {
        guard let bytes = try SmallFile.existingContents(of: path, byteLimit: OutgoingRequestsFile.byteLimit, fileSystem) else { return .missing }
        guard let found = OutgoingRequests(text: bytes), found.deviceID == deviceID, found.receiverID == receiverID else {
            return .unusable
        }
        return .intact(found)
    }

    /// Renames an unusable file to ``asidePath``. A file that was set aside before is replaced.
    package func setAside() throws(JournalError) {
        try JournalError.wrappingAll { () throws(FileFailure) in
            try fileSystem.rename(path, to: asidePath)
            try fileSystem.synchronizeDirectory(at: directory.path)
        }
    }

    /// Replaces the file, durably.
    /// - Throws: the failure. The file then holds the old or the new requests; another save completes the replacement.
    package func save(_ requests: OutgoingRequests) throws(JournalError) {
        try JournalError.wrapping(try SmallFile.replace(path, in: directory.path, with: requests.text, fileSystem))
    }
}

/// The text of the file has a title; a line each for the collar, the receiver and the last id; lines for the known settings,
/// the open requests and the ended requests; and at the end the CRC of all lines before it.
extension OutgoingRequests {
    private static let title = "collar-link requests 1"

    /// The text as bytes, 4 KiB at most.
    package var text: [UInt8] {
        var lines = [OutgoingRequests.title, "collar \(JournalDirectory.name(of: deviceID))", "receiver \(receiverID)"]
        lines.append("last \(lastRequestID)")
        if highestVersion > .defaults { lines.append("version \(highestVersion.rawValue)") }
        if let report {
            let values = report.values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            lines.append("report \(report.version.rawValue)\(values.joined())")
        }
        for one in open {
            lines.append("open \(one.requestID) \(one.deadlineUnixMilliseconds) \(one.successorCount) \(words(of: one.request))")
        }
        for one in ended { lines.append("ended \(one.requestID) \(words(of: one.end)) \(words(of: one.request))") }
        var bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        bytes += Array("check \(OutgoingRequests.crc(of: bytes))\n".utf8)
        return bytes
    }

    /// Reads a text.
    /// - Returns: nil if ``text`` cannot have produced the bytes.
    package init?(text: [UInt8]) {
        guard text.last == UInt8(ascii: "\n"),
            let end = text.dropLast().lastIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let body = Array(text[...end])
        guard Array(text[(end + 1)...]) == Array("check \(OutgoingRequests.crc(of: body))\n".utf8) else { return nil }
        let lines = String(decoding: body, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count >= 4, lines[0].joined(separator: " ") == OutgoingRequests.title,
            let deviceID = OutgoingRequests.value("collar", lines[1]).flatMap({ UInt64(hexadecimal: $0) }),
            let receiverID = OutgoingRequests.value("receiver", lines[2]).flatMap({ UInt32($0, in: 0 ... .max) }),
            let last = OutgoingRequests.value("last", lines[3]).flatMap({ UInt16($0, in: 0 ... .max) })
        else { return nil }
        self.init(deviceID: deviceID, receiverID: receiverID, lastRequestID: last)
        for line in lines[4...] { guard take(line[...]) else { return nil } }
    }

    private static func value(_ name: String, _ words: [Substring]) -> Substring? {
        words.count == 2 && words[0] == name ? words[1] : nil
    }

    private mutating func take(_ line: ArraySlice<Substring>) -> Bool {
        var words = line
        switch words.popFirst() {
        case "version":
            guard let version = takeVersion(&words) else { return false }
            learn(of: version)
        case "report":
            guard let version = takeVersion(&words), let pairs = settings(words) else { return false }
            restore(Report(version: version, values: Dictionary(pairs.map { ($0.key, $0.value) }) { $1 }))
        case "open":
            guard let id = words.popFirst().flatMap({ UInt16($0, in: 0 ... .max) }), let time = words.popFirst().flatMap({ Int64($0, in: .unixMilliseconds) }),
                let successorCount = words.popFirst().flatMap({ UInt8($0, in: 0...8) }), let request = request(words),
                open.count < RequestQueue.capacity
            else { return false }
            open.append(
                Open(requestID: id, request: request, deadlineUnixMilliseconds: time, successorCount: successorCount))
        case "ended":
            guard let id = words.popFirst().flatMap({ UInt16($0, in: 0 ... .max) }), let end = takeEnd(&words),
                let request = request(words)
            else { return false }
            add(Ended(requestID: id, request: request, end: end))
        default: return false
        }
        return true
    }

    private static func crc(of bytes: [UInt8]) -> String {
        var crc = CRC24()
        crc.update(bytes.span, from: 0, to: bytes.count)
        return String(crc.checksum, radix: 16)
    }
}

private let plainRequests: [(word: Substring, request: HostRequest)] = [
    ("start", .command(.startTracking)), ("stop", .command(.stopTracking)), ("locate", .command(.locateNow)),
    ("reboot", .command(.reboot)), ("unpair", .command(.unpair)), ("report", .settingsRequest),
]

private func words(of request: HostRequest) -> String {
    switch request {
    case .command(.sound(let milliseconds)): return "sound \(milliseconds)"
    case .command(.pair(let receiverID)): return "pair \(receiverID)"
    case .message(let message): return words(of: message)
    case .command, .settingsRequest: return plainRequests.first { $0.request == request }.map { String($0.word) } ?? ""
    case .settingsUpdate(let version, let list):
        let pairs = (0..<list.count).map { " \(list[$0].key)=\(list[$0].value)" }
        return "update \(version.rawValue)\(pairs.joined())"
    }
}

/// The kind of a message, with the answered request and the outcome of a reply; then its code, its time, and its data in
/// hexadecimal after an `x`.
private func words(of message: ApplicationMessage) -> String {
    let rest = "\(message.code) \(message.unixSeconds) x\(String(hexadecimal: message.data))"
    return switch message.kind {
    case .notice: "message notice \(rest)"
    case .request: "message request \(rest)"
    case .reply(let request, let outcome): "message reply \(request) \(outcome.rawValue) \(rest)"
    }
}

private func message(_ line: ArraySlice<Substring>) -> ApplicationMessage? {
    var words = line
    let kind: ApplicationMessage.Kind
    switch words.popFirst() {
    case "notice": kind = .notice
    case "request": kind = .request
    case "reply":
        guard let request = words.popFirst().flatMap({ UInt32($0, in: 0 ... .max) }),
            let outcome = words.popFirst().flatMap({ UInt8($0, in: 0 ... .max) }).flatMap({ CommandResult.Outcome(rawValue: $0) })
        else { return nil }
        kind = .reply(to: request, outcome)
    default: return nil
    }
    guard let code = words.popFirst().flatMap({ UInt8($0, in: 0 ... .max) }), let time = words.popFirst().flatMap({ UInt32($0, in: 0 ... .max) }),
        let digits = words.popFirst(), digits.first == "x", let data = [UInt8](hexadecimal: digits.dropFirst()), words.isEmpty
    else { return nil }
    return ApplicationMessage(kind: kind, code: code, unixSeconds: time, data: data.span)
}

private func words(of end: OutgoingRequests.End) -> String {
    switch end {
    case .outcome(.result(let outcome)): "result \(outcome.rawValue)"
    case .outcome(.reported(let version)): "reported \(version.rawValue)"
    case .outcome(.expired): "expired"
    case .replaced: "replaced"
    }
}

private func request(_ line: ArraySlice<Substring>) -> HostRequest? {
    var words = line
    switch (words.popFirst(), words.count) {
    case ("sound", 1): return words.first.flatMap { UInt16($0, in: 0 ... .max) }.map { .command(.sound(milliseconds: $0)) }
    case ("pair", 1):
        guard let receiverID = words.first.flatMap({ UInt32($0, in: 0 ... .max) }), receiverID != 0 else { return nil }
        return .command(.pair(receiverID: receiverID))
    case ("message", _): return message(words).map { .message($0) }
    case ("update", _):
        guard let version = takeVersion(&words), let pairs = settings(words), pairs.count <= HostRequest.settingLimit else {
            return nil
        }
        var list = SettingList()
        for pair in pairs { list.append(pair) }
        return .settingsUpdate(version: version, list)
    case (let word, 0): return plainRequests.first { $0.word == word }?.request
    default: return nil
    }
}

private func takeVersion(_ words: inout ArraySlice<Substring>) -> SettingsVersion? {
    words.popFirst().flatMap { UInt64($0, in: 0 ... .max) }.map(SettingsVersion.init)
}

private func takeEnd(_ words: inout ArraySlice<Substring>) -> OutgoingRequests.End? {
    switch words.popFirst() {
    case "result":
        return words.popFirst().flatMap { UInt8($0, in: 0 ... .max) }.flatMap { CommandResult.Outcome(rawValue: $0) }
            .map { .outcome(.result($0)) }
    case "reported": return takeVersion(&words).map { .outcome(.reported(version: $0)) }
    case "expired": return .outcome(.expired)
    case "replaced": return .replaced
    default: return nil
    }
}

private func settings(_ words: ArraySlice<Substring>) -> [Setting]? {
    var settings: [Setting] = []
    for word in words {
        let parts = word.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let key = UInt8(parts[0], in: 0 ... .max), let value = UInt32(parts[1], in: 0 ... .max) else { return nil }
        settings.append(Setting(key: key, value: value))
    }
    return settings
}
