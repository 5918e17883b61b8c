import CollarARQ
import CollarWire
import Glibc
import Testing
@testable import CollarJournal

/// Requests that are kept across restarts: exactly the saved requests are read back, even after a crash.
@Suite struct OutgoingRequestsTests {
    private let highest = SettingsVersion(rawValue: .max)
    private let time = HostTime(instant: Instant(microseconds: 1_000_000), unixMilliseconds: 1_795_000_000_000)
    private let directory = JournalDirectory(stateDirectory: "/state", deviceID: collar)

    private func files() throws -> MemoryFileSystem {
        let files = MemoryFileSystem()
        for path in ["/state", directory.path] { _ = try files.makeDirectory(at: path) }
        return files
    }

    /// A request of every kind, an end of every kind, and a report of settings.
    private func example() -> OutgoingRequests {
        var requests = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 65_535)
        let actions: [Command.Action] = [
            .startTracking, .stopTracking, .locateNow, .reportPower, .sound(milliseconds: 65_535), .find(seconds: .max),
            .reboot, .pair(receiverID: .max), .unpair,
        ]
        let outcomes: [HostRequestOutcome] = [.expired, .replaced, .result(.failed), .reported(version: highest)]
        for (index, action) in actions[..<6].enumerated() {
            requests.note(EndedRequest(requestID: UInt16(index), request: .command(action), outcome: outcomes[index % outcomes.count]))
        }
        for action in actions[6...] { add(.command(action), to: &requests) }
        var list = SettingList()
        for key in 1...UInt8(HostRequest.settingLimit) { list.append(Setting(key: key, value: .max)) }
        add(.settingsUpdate(version: highest, list), to: &requests)
        add(.settingsRequest, to: &requests)
        let data: [UInt8] = [0, 0xFF, 0x7A]
        let kinds: [ApplicationMessage.Kind] = [.notice, .reply(to: .max, .failed)]
        for (index, kind) in kinds.enumerated() {
            let bytes = index == 0 ? [] : data
            let message = ApplicationMessage(kind: kind, code: 255, unixSeconds: .max, data: bytes.span)
            if let message { add(.message(message), to: &requests) }
        }
        requests.accept(Settings(direction: .report, requestID: 91, version: SettingsVersion(rawValue: 17), entries: list))
        return requests
    }

    private func add(_ request: HostRequest, to requests: inout OutgoingRequests) {
        let deadline = time.instant.advanced(byMicroseconds: 5_000_000 - 1000 * Int64(requests.queue.count))
        #expect(requests.add(request, deadline: deadline, isLatestOnly: false) != nil)
    }

    private func text(_ requests: OutgoingRequests) throws -> [UInt8] { try requests.text(at: time) }

    /// The text of the requests that a file has; nil if they are none.
    private func text(_ contents: OutgoingRequestsFile.Contents) throws -> [UInt8]? {
        guard case .intact(let requests) = contents else { return nil }
        return try text(requests)
    }

    private func isUnusable(_ contents: OutgoingRequestsFile.Contents) -> Bool { if case .unusable = contents { true } else { false } }

    private func isMissing(_ contents: OutgoingRequestsFile.Contents) -> Bool { if case .missing = contents { true } else { false } }

    @Test func everythingIsReadBack() throws {
        let requests = example()
        let text = try text(requests)
        let found = try #require(OutgoingRequests(text: text, at: time))
        #expect(found.open.map(\.requestID) == [1, 2, 3, 4, 5, 6, 7])
        #expect(found.open.map(\.request) == requests.open.map(\.request))
        #expect(found.open.map(\.deadline) == requests.open.map(\.deadline))
        #expect(found.open.map(\.successorCount) == [6, 5, 4, 3, 2, 1, 0])
        #expect(found.ended == requests.ended)
        #expect(found.report == requests.report)
        #expect(found.highestVersion == requests.highestVersion)
        #expect(try found.text(at: time) == text)
        let empty = OutgoingRequests(deviceID: 0, receiverID: 0, lastRequestID: 0)
        #expect(try OutgoingRequests(text: empty.text(at: time), at: time)?.text(at: time) == empty.text(at: time))
    }

    /// The clock was set, or a program was not running for long.
    @Test(arguments: [(-1000, 6_000), (1000, 4_000), (3_600_000, 0), (-1 << 40, OutgoingRequests.longestWait)] as [(Int64, Int64)])
    func aDeadlineIsATimeOfDay(set: Int64, rest: Int64) throws {
        var requests = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 3)
        add(.settingsRequest, to: &requests)
        let later = HostTime(instant: Instant(microseconds: 77), unixMilliseconds: time.unixMilliseconds + set)
        let found = try #require(try OutgoingRequests(text: text(requests), at: later))
        #expect(found.open.first?.deadline == later.instant.advanced(byMicroseconds: rest * 1000))
    }

    @Test func aRequestThatCannotBeEncodedIsNotStored() throws {
        var requests = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 3)
        add(.command(.pair(receiverID: 0)), to: &requests)
        #expect(throws: JournalError.unencodable(.request(id: 4))) { try text(requests) }
    }

    @Test func noDamageOfOneByteIsRead() throws {
        let text = try text(example())
        for index in text.indices {
            for mask in [1, 0x20, 0x80, 0xFF] as [UInt8] {
                var damaged = text
                damaged[index] ^= mask
                #expect(OutgoingRequests(text: damaged, at: time) == nil, "byte \(index)")
            }
            #expect(OutgoingRequests(text: Array(text[..<index]), at: time) == nil, "cut at \(index)")
        }
        #expect(OutgoingRequests(text: text + text, at: time) == nil)
        #expect(OutgoingRequests(text: [UInt8](repeating: 0, count: 4096), at: time) == nil)
    }

    /// A valid checksum does not make a request of a word that is not one.
    @Test(arguments: [("open", "order"), ("open", "open"), (" expired", " over"), ("requests 2", "requests 1")])
    func aFileWithAnUnknownWordIsNotRead(word: String, other: String) throws {
        let lines = try String(decoding: text(example()), as: UTF8.self).split(separator: "\n").dropLast()
        let text = Array((lines.joined(separator: "\n").replacing(word, with: other) + "\n").utf8)
        var crc = CRC24()
        crc.update(text.span, from: 0, to: text.count)
        let found = OutgoingRequests(text: text + Array("check \(String(crc.checksum, radix: 16))\n".utf8), at: time)
        #expect((found == nil) == (word != other))
    }

    @Test func theFileStaysSmall() throws {
        var requests = OutgoingRequests(deviceID: 0xFFFF_FFFF_FFFF_FFFF, receiverID: .max, lastRequestID: .max)
        var list = SettingList()
        for _ in 0..<HostRequest.settingLimit { list.append(Setting(key: .max, value: .max)) }
        for first in [1, 7, 13, 19] as [UInt8] {
            var part = SettingList()
            for key in first..<first + 6 { part.append(Setting(key: key, value: .max)) }
            requests.accept(Settings(direction: .report, requestID: 0, version: highest, entries: part))
        }
        for id in 0..<100 as Range<UInt16> {
            requests.note(EndedRequest(requestID: id, request: .settingsUpdate(version: highest, list), outcome: .reported(version: highest)))
            if id < 7 { add(.settingsUpdate(version: highest, list), to: &requests) }
        }
        #expect(requests.ended.map(\.requestID) == Array(84..<100))
        let text = try text(requests)
        #expect(text.count <= 4096)
        #expect(try OutgoingRequests(text: text, at: time).map { try $0.text(at: time) } == text)
    }

    @Test func aReportComesInParts() {
        var requests = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 0)
        func take(_ version: UInt64, _ keys: ClosedRange<UInt8>) {
            var list = SettingList()
            for key in keys { list.append(Setting(key: key, value: UInt32(version))) }
            requests.accept(
                Settings(direction: .report, requestID: 1, version: SettingsVersion(rawValue: version), entries: list))
        }
        take(5, 1...6)
        take(5, 7...12)
        take(5, 13...18)
        take(5, 19...24)
        #expect(requests.report?.values.keys.sorted() == Array(1...23))
        // After a collar was erased, the version of its settings is lower again. The highest version stays known, because a
        // settings update must have a higher one.
        take(2, 1...6)
        #expect(requests.report == .init(version: SettingsVersion(rawValue: 2), values: [1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2]))
        #expect(requests.highestVersion == SettingsVersion(rawValue: 5))
    }

    @Test func anImplausibleVersionIsReportedButNotTheHighest() {
        var requests = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 0)
        requests.accept(Settings(direction: .report, requestID: 1, version: highest, entries: SettingList()))
        #expect(requests.report?.version == highest)
        #expect(requests.highestVersion == .defaults)
    }

    @Test func whereThereIsNoFile() throws {
        let file = OutgoingRequestsFile(in: directory, fileSystem: try files())
        #expect(isMissing(try file.load(deviceID: collar, receiverID: receiver, at: time)))
    }

    @Test func othersRequestsAreNotTaken() throws {
        let file = OutgoingRequestsFile(in: directory, fileSystem: try files())
        try file.save(example(), at: time)
        #expect(try text(file.load(deviceID: collar, receiverID: receiver, at: time)) == text(example()))
        #expect(isUnusable(try file.load(deviceID: otherCollar, receiverID: receiver, at: time)))
        #expect(isUnusable(try file.load(deviceID: collar, receiverID: receiver + 1, at: time)))
    }

    @Test func whatCannotBeUsedIsSetAside() throws {
        let files = try files()
        let file = OutgoingRequestsFile(in: directory, fileSystem: files)
        try file.save(example(), at: time)
        files.corrupt(file.path, at: 100, xor: 4)
        #expect(isUnusable(try file.load(deviceID: collar, receiverID: receiver, at: time)))
        try file.setAside()
        files.crash(keep: { durable, _ in durable }, keepsName: { false })
        #expect(isMissing(try file.load(deviceID: collar, receiverID: receiver, at: time)))
        #expect(files.files[file.asidePath]?.bytes.count == (try text(example())).count)
    }

    /// After a crash at any step of a save, the old or the new requests are read back, whichever part of the save reached the
    /// disk.
    @Test func aCrashLeavesOldOrNew() throws {
        var old = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 3)
        add(.settingsRequest, to: &old)
        let new = example()
        let steps: [FileOperation?] = [.remove, .create, .write, .synchronize, .rename, nil]
        for step in steps {
            for keepsBytes in [false, true] {
                for keepsName in [false, true] {
                    let files = try files()
                    let file = OutgoingRequestsFile(in: directory, fileSystem: files)
                    try file.save(old, at: time)
                    files.longestWrite = 100
                    if let step { files.failures = [(step, EIO)] }
                    var isSaved = true
                    do { try file.save(new, at: time) } catch { isSaved = false }
                    #expect(isSaved == (step == nil))
                    files.crash(keep: { durable, written in keepsBytes ? written : durable }, keepsName: { keepsName })
                    let found = try text(file.load(deviceID: collar, receiverID: receiver, at: time))
                    #expect(found == (try text(isSaved ? new : old)), "\(String(describing: step)) \(keepsBytes) \(keepsName)")
                    // The next save succeeds despite the remains of this one.
                    files.failures = []
                    try file.save(new, at: time)
                    #expect(try text(file.load(deviceID: collar, receiverID: receiver, at: time)) == text(new))
                }
            }
        }
    }

    /// A power cut between the rename and the synchronisation of the directory.
    @Test func aNameThatIsNotDurable() throws {
        let old = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 3)
        for keepsName in [false, true] {
            let files = try files()
            let file = OutgoingRequestsFile(in: directory, fileSystem: files)
            try file.save(old, at: time)
            files.directorySyncFailure = EIO
            #expect(throws: JournalError.self) { try file.save(example(), at: time) }
            files.crash(keep: { durable, _ in durable }, keepsName: { keepsName })
            let found = try text(file.load(deviceID: collar, receiverID: receiver, at: time))
            #expect(found == (try text(keepsName ? example() : old)))
        }
    }

    @Test func beginningsDiffer() {
        var random = SystemRandomNumberGenerator()
        let ids = (0..<20).map { _ in
            OutgoingRequests.beginning(deviceID: 1, receiverID: 2, random: &random).queue.lastRequestID
        }
        #expect(Set(ids).count > 10)
    }

    @Test func idsThatWereUsedDoNotComeNext() {
        var random = SystemRandomNumberGenerator()
        var requests = OutgoingRequests(deviceID: 1, receiverID: 2, lastRequestID: 0)
        for number in 0..<16 as Range<UInt16> {
            requests.note(EndedRequest(requestID: number * 4096, request: .settingsRequest, outcome: .replaced))
        }
        for _ in 0..<2000 {
            requests.skipUsedIDs(random: &random)
            let last = requests.queue.lastRequestID
            #expect(!requests.ended.contains { (1...8).contains($0.requestID &- last) })
        }
    }

    /// A collar remembers its last eight requests. As ids are skipped, they do not tell how many requests followed another one, so the
    /// file holds that number.
    @Test func successorsAreCountedWhereIDsAreSkipped() throws {
        var random = SystemRandomNumberGenerator()
        var requests = OutgoingRequests(deviceID: 1, receiverID: 2, lastRequestID: 65_534)
        add(.command(.reboot), to: &requests)
        add(.command(.locateNow), to: &requests)
        var found = try #require(OutgoingRequests(text: text(requests), at: time))
        #expect(found.open.map(\.requestID) == [65_535, 1])
        #expect(found.open.map(\.successorCount) == [1, 0])
        found.skipUsedIDs(random: &random)
        add(.settingsRequest, to: &found)
        #expect(try OutgoingRequests(text: text(found), at: time)?.open.map(\.successorCount) == [2, 1, 0])
    }

    @Test func realFiles() throws {
        let state = "/tmp/collar-link-requests-\(getpid())"
        let files = POSIXFileSystem()
        let directory = JournalDirectory(stateDirectory: state, deviceID: collar)
        for path in [state, directory.path] { _ = try files.makeDirectory(at: path) }
        let file = OutgoingRequestsFile(in: directory)
        defer {
            _ = unsafe unlink(file.path)
            _ = unsafe unlink(file.asidePath)
            for path in [directory.path, state] { _ = unsafe rmdir(path) }
        }
        #expect(isMissing(try file.load(deviceID: collar, receiverID: receiver, at: time)))
        for _ in 0..<3 { try file.save(example(), at: time) }
        #expect(try text(file.load(deviceID: collar, receiverID: receiver, at: time)) == text(example()))
        // A power cut during a rename may leave two names for one file. A save must not write to that file.
        let newPath = "\(file.path).new"
        #expect(unsafe link(file.path, newPath) == 0)
        try file.save(example(), at: time)
        #expect(unsafe access(newPath, F_OK) != 0)
        #expect(try text(file.load(deviceID: collar, receiverID: receiver, at: time)) == text(example()))
        #expect(try files.names(in: directory.path) == ["requests"])
        try file.setAside()
        #expect(try files.names(in: directory.path) == ["requests.unusable"])
    }
}
