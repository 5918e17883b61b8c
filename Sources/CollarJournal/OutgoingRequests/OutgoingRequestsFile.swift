import CheckedNumbers
import CollarARQ
import CollarWire

/// Keeps ``OutgoingRequests`` in `<state directory>/<device id>/requests`. Only the holder of the collar's journal may use
/// it.
///
/// The file is replaced as a whole: after a crash at any point either the old or the new one is there.
package struct OutgoingRequestsFile {
    package enum Contents: Sendable {
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

    package func load(deviceID: DeviceID, receiverID: UInt32, at time: HostTime) throws(JournalError) -> Contents {
        guard let bytes = try SmallFile.existingContents(of: path, byteLimit: OutgoingRequestsFile.byteLimit, fileSystem) else { return .missing }
        guard let found = OutgoingRequests(text: bytes, at: time), found.deviceID == deviceID, found.queue.receiverID == receiverID else {
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
    package func save(_ requests: OutgoingRequests, at time: HostTime) throws(JournalError) {
        let text = try requests.text(at: time)
        try JournalError.wrapping(try SmallFile.replace(path, in: directory.path, with: text, fileSystem))
    }
}

/// The text of the file has a title; a line each for the collar, the receiver and the last id; lines for the known settings,
/// the open requests and the ended requests; and at the end the CRC of all lines before it. A request is the frame in which it is sent, in
/// hexadecimal, bound to log 0 of the collar.
extension OutgoingRequests {
    private static let title = "collar-link requests 2"

    /// The text as bytes, 4 KiB at most.
    /// - Parameter time: the present time, because the file has the deadlines as times of day.
    /// - Throws: ``JournalError/unencodable(_:)`` if a request is invalid.
    package func text(at time: HostTime) throws(JournalError) -> [UInt8] {
        var lines = [OutgoingRequests.title, "collar \(deviceID)", "receiver \(queue.receiverID)"]
        lines.append("last \(queue.lastRequestID)")
        if highestVersion > .defaults { lines.append("version \(highestVersion.rawValue)") }
        if let report {
            let values = report.values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            lines.append("report \(report.version.rawValue)\(values.joined())")
        }
        for one in open {
            let deadline = time.unixMilliseconds + one.deadline.microseconds(since: time.instant) / 1000
            lines.append("open \(try frame(one.request, one.requestID)) \(deadline) \(one.successorCount)")
        }
        for one in ended { lines.append("ended \(try frame(one.request, one.requestID)) \(OutgoingRequests.words(of: one.outcome))") }
        var bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        bytes += Array("check \(OutgoingRequests.crc(of: bytes))\n".utf8)
        return bytes
    }

    /// - Returns: nil if ``text(at:)`` cannot have produced the bytes.
    package init?(text: [UInt8], at time: HostTime) {
        guard text.last == UInt8(ascii: "\n"),
            let end = text.dropLast().lastIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let body = Array(text[...end])
        guard Array(text[(end + 1)...]) == Array("check \(OutgoingRequests.crc(of: body))\n".utf8) else { return nil }
        let lines = String(decoding: body, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count >= 4, lines[0].joined(separator: " ") == OutgoingRequests.title,
            let deviceID = OutgoingRequests.value("collar", lines[1]).flatMap({ DeviceID(hexadecimal: $0) }),
            let receiverID = OutgoingRequests.value("receiver", lines[2]).flatMap({ UInt32($0, in: 0 ... .max) }),
            let last = OutgoingRequests.value("last", lines[3]).flatMap({ UInt16($0, in: 0 ... .max) })
        else { return nil }
        self.init(deviceID: deviceID, receiverID: receiverID, lastRequestID: last)
        for line in lines[4...] { guard take(line, at: time) else { return nil } }
    }

    private static func value(_ name: String, _ words: [Substring]) -> Substring? {
        words.count == 2 && words[0] == name ? words[1] : nil
    }

    private mutating func take(_ words: [Substring], at time: HostTime) -> Bool {
        guard words.count >= 2 else { return false }
        switch (words[0], words.count) {
        case ("version", 2):
            guard let version = UInt64(words[1], in: 0 ... .max) else { return false }
            learn(of: SettingsVersion(rawValue: version))
        case ("report", _):
            guard let version = UInt64(words[1], in: 0 ... .max) else { return false }
            var values: [UInt8: UInt32] = [:]
            for word in words[2...] {
                let parts = word.split(separator: "=", omittingEmptySubsequences: false)
                guard parts.count == 2, let key = UInt8(parts[0], in: 0 ... .max), let value = UInt32(parts[1], in: 0 ... .max)
                else { return false }
                values[key] = value
            }
            report = Report(version: SettingsVersion(rawValue: version), values: values)
        case ("open", 4):
            guard let (id, request) = request(words[1]), let deadline = Int64(words[2], in: .unixMilliseconds),
                let successorCount = UInt8(words[3], in: 0...8)
            else { return false }
            // A clock that was set back must not make a request wait forever.
            let rest = min(max(deadline - time.unixMilliseconds, 0), OutgoingRequests.longestWait)
            return queue.restore(
                id, request, deadline: time.instant.advanced(byMicroseconds: rest * 1000), successorCount: successorCount)
        case ("ended", 3...):
            guard let (id, request) = request(words[1]), let outcome = OutgoingRequests.outcome(words[2...]) else { return false }
            note(EndedRequest(requestID: id, request: request, outcome: outcome))
        default: return false
        }
        return true
    }

    private static func crc(of bytes: [UInt8]) -> String {
        var crc = CRC24()
        crc.update(bytes.span, from: 0, to: bytes.count)
        return String(crc.checksum, radix: 16)
    }

    private var log: LogIdentity { LogIdentity(deviceID: deviceID, logID: 0) }

    private func frame(_ request: HostRequest, _ requestID: UInt16) throws(JournalError) -> String {
        do throws(EncodeError) {
            let bytes = try [UInt8](capacity: Frame.maximumByteCount) { output throws(EncodeError) in
                try request.encode(requestID: requestID, receiverID: queue.receiverID, address: 1, log: log, into: &output)
            }
            return String(hexadecimal: bytes.span)
        } catch { throw .unencodable(.request(id: requestID)) }
    }

    private func request(_ digits: Substring) -> (requestID: UInt16, HostRequest)? {
        guard let bytes = [UInt8](hexadecimal: digits) else { return nil }
        do throws(DecodeError) {
            switch try Message.decode(bytes.span, log: log, reference: 0) {
            case .command(let command): return (command.requestID, .command(command.action))
            case .settingsRequest(let request): return (request.requestID, .settingsRequest)
            case .hostMessage(let message): return (message.requestID, .message(message.content))
            case .settings(let update) where update.direction == .update && update.entries.count <= HostRequest.settingLimit:
                return (update.requestID, .settingsUpdate(version: update.version, update.entries))
            default: return nil
            }
        } catch { return nil }
    }

    private static func words(of outcome: HostRequestOutcome) -> String {
        switch outcome {
        case .result(let outcome): "result \(outcome.rawValue)"
        case .reported(let version): "reported \(version.rawValue)"
        case .expired: "expired"
        case .replaced: "replaced"
        }
    }

    private static func outcome(_ words: ArraySlice<Substring>) -> HostRequestOutcome? {
        switch (words.first, words.count) {
        case ("result", 2): words.last.flatMap { UInt8($0, in: 0 ... .max) }.flatMap { CommandResult.Outcome(rawValue: $0) }.map { .result($0) }
        case ("reported", 2): words.last.flatMap { UInt64($0, in: 0 ... .max) }.map { .reported(version: SettingsVersion(rawValue: $0)) }
        case ("expired", 1): .expired
        case ("replaced", 1): .replaced
        default: nil
        }
    }
}
