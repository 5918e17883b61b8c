import CollarARQ
import CollarWire
import Glibc
import Testing
@testable import CollarJournal

/// Requests that are kept across restarts: exactly the saved requests are read back, even after a crash.
@Suite struct OutgoingRequestsTests {
    private let highest = SettingsVersion(rawValue: .max)
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
            .startTracking, .stopTracking, .locateNow, .sound(milliseconds: 65_535), .reboot, .pair(receiverID: .max), .unpair,
        ]
        for (index, action) in actions.enumerated() { add(UInt16(index), .command(action), to: &requests) }
        requests.end(0, .outcome(.expired))
        requests.end(1, .replaced)
        requests.end(2, .outcome(.result(.failed)))
        requests.end(3, .outcome(.reported(version: highest)))
        var list = SettingList()
        for key in 1...UInt8(HostRequest.settingLimit) { list.append(Setting(key: key, value: .max)) }
        add(90, .settingsUpdate(version: highest, list), to: &requests)
        add(91, .settingsRequest, to: &requests)
        let data: [UInt8] = [0, 0xFF, 0x7A]
        let kinds: [ApplicationMessage.Kind] = [.notice, .reply(to: .max, .failed)]
        for (index, kind) in kinds.enumerated() {
            let bytes = index == 0 ? [] : data
            let message = ApplicationMessage(kind: kind, code: 255, unixSeconds: .max, data: bytes.span)
            if let message { add(92 + UInt16(index), .message(message), to: &requests) }
        }
        requests.accept(Settings(direction: .report, requestID: 91, version: SettingsVersion(rawValue: 17), entries: list))
        return requests
    }

    private func add(_ id: UInt16, _ request: HostRequest, to requests: inout OutgoingRequests) {
        requests.add(requestID: id, request, deadlineUnixMilliseconds: 1_795_000_000_000 - Int64(id))
    }

    @Test func everythingIsReadBack() throws {
        let requests = example()
        #expect(requests.open.count == 7)
        #expect(requests.ended.count == 4)
        #expect(OutgoingRequests(text: requests.text) == requests)
        let empty = OutgoingRequests(deviceID: 0, receiverID: 0, lastRequestID: 0)
        #expect(OutgoingRequests(text: empty.text) == empty)
    }

    @Test func noDamageOfOneByteIsRead() {
        let text = example().text
        for index in text.indices {
            for mask in [1, 0x20, 0x80, 0xFF] as [UInt8] {
                var damaged = text
                damaged[index] ^= mask
                #expect(OutgoingRequests(text: damaged) == nil, "byte \(index)")
            }
            #expect(OutgoingRequests(text: Array(text[..<index])) == nil, "cut at \(index)")
        }
        #expect(OutgoingRequests(text: text + text) == nil)
        #expect(OutgoingRequests(text: [UInt8](repeating: 0, count: 4096)) == nil)
    }

    /// A valid checksum does not make a request of a word that is not one.
    @Test(arguments: [("update", "order"), ("update", "update"), ("expired", "over")])
    func aFileWithAnUnknownWordIsNotRead(word: String, other: String) throws {
        let lines = String(decoding: example().text, as: UTF8.self).split(separator: "\n").dropLast()
        let text = Array((lines.joined(separator: "\n").replacing(" \(word)", with: " \(other)") + "\n").utf8)
        var crc = CRC24()
        crc.update(text.span, from: 0, to: text.count)
        let found = OutgoingRequests(text: text + Array("check \(String(crc.checksum, radix: 16))\n".utf8))
        #expect((found == nil) == (word != other))
    }

    @Test func theFileStaysSmall() {
        var requests = OutgoingRequests(deviceID: .max, receiverID: .max, lastRequestID: .max)
        var list = SettingList()
        for _ in 0..<HostRequest.settingLimit { list.append(Setting(key: .max, value: .max)) }
        for first in [1, 7, 13] as [UInt8] {
            var part = SettingList()
            for key in first..<first + 6 { part.append(Setting(key: key, value: .max)) }
            requests.accept(Settings(direction: .report, requestID: 0, version: highest, entries: part))
        }
        for id in 60_000..<60_100 as Range<UInt16> {
            add(id, .settingsUpdate(version: highest, list), to: &requests)
            if requests.open.count > RequestQueue.capacity { requests.end(id - 8, .outcome(.reported(version: highest))) }
        }
        #expect(requests.ended.count == OutgoingRequests.endedLimit)
        #expect(requests.text.count <= 8192)
        #expect(OutgoingRequests(text: requests.text) == requests)
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
        #expect(requests.report?.values.keys.sorted() == Array(1...15))
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
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .missing)
    }

    @Test func othersRequestsAreNotTaken() throws {
        let file = OutgoingRequestsFile(in: directory, fileSystem: try files())
        try file.save(example())
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .intact(example()))
        #expect(try file.load(deviceID: collar + 1, receiverID: receiver) == .unusable)
        #expect(try file.load(deviceID: collar, receiverID: receiver + 1) == .unusable)
    }

    @Test func whatCannotBeUsedIsSetAside() throws {
        let files = try files()
        let file = OutgoingRequestsFile(in: directory, fileSystem: files)
        try file.save(example())
        files.corrupt(file.path, at: 100, xor: 4)
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .unusable)
        try file.setAside()
        files.crash(keep: { durable, _ in durable }, keepsName: { false })
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .missing)
        #expect(files.files[file.asidePath]?.bytes.count == example().text.count)
    }

    /// After a crash at any step of a save, the old or the new requests are read back, whichever part of the save reached the
    /// disk.
    @Test func aCrashLeavesOldOrNew() throws {
        var old = OutgoingRequests(deviceID: collar, receiverID: receiver, lastRequestID: 3)
        add(3, .settingsRequest, to: &old)
        let new = example()
        let steps: [FileOperation?] = [.remove, .create, .write, .synchronize, .rename, nil]
        for step in steps {
            for keepsBytes in [false, true] {
                for keepsName in [false, true] {
                    let files = try files()
                    let file = OutgoingRequestsFile(in: directory, fileSystem: files)
                    try file.save(old)
                    files.longestWrite = 100
                    if let step { files.failures = [(step, EIO)] }
                    var isSaved = true
                    do { try file.save(new) } catch { isSaved = false }
                    #expect(isSaved == (step == nil))
                    files.crash(keep: { durable, written in keepsBytes ? written : durable }, keepsName: { keepsName })
                    let found = try file.load(deviceID: collar, receiverID: receiver)
                    #expect(found == .intact(isSaved ? new : old), "\(String(describing: step)) \(keepsBytes) \(keepsName)")
                    // The next save succeeds despite the remains of this one.
                    files.failures = []
                    try file.save(new)
                    #expect(try file.load(deviceID: collar, receiverID: receiver) == .intact(new))
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
            try file.save(old)
            files.directorySyncFailure = EIO
            #expect(throws: JournalError.self) { try file.save(example()) }
            files.crash(keep: { durable, _ in durable }, keepsName: { keepsName })
            let found = try file.load(deviceID: collar, receiverID: receiver)
            #expect(found == .intact(keepsName ? example() : old))
        }
    }

    @Test func beginningsDiffer() {
        var random = SystemRandomNumberGenerator()
        let ids = (0..<20).map { _ in
            OutgoingRequests.beginning(deviceID: 1, receiverID: 2, random: &random).lastRequestID
        }
        #expect(Set(ids).count > 10)
    }

    @Test func idsThatWereUsedDoNotComeNext() {
        var random = SystemRandomNumberGenerator()
        var requests = OutgoingRequests(deviceID: 1, receiverID: 2, lastRequestID: 0)
        for number in 0..<16 as Range<UInt16> {
            add(number * 4096, .settingsRequest, to: &requests)
            requests.end(number * 4096, .replaced)
        }
        for _ in 0..<2000 {
            requests.skipUsedIDs(random: &random)
            let last = requests.lastRequestID
            #expect(!requests.ended.contains { (1...8).contains($0.requestID &- last) })
        }
    }

    /// A collar remembers its last eight requests. As ids are skipped, they do not tell how many requests followed another one, so the
    /// file holds that number.
    @Test func successorsAreCountedWhereIDsAreSkipped() {
        var random = SystemRandomNumberGenerator()
        var requests = OutgoingRequests(deviceID: 1, receiverID: 2, lastRequestID: 65_534)
        add(65_535, .command(.reboot), to: &requests)
        add(1, .command(.locateNow), to: &requests)
        #expect(OutgoingRequests(text: requests.text)?.open.map(\.successorCount) == [1, 0])
        requests.skipUsedIDs(random: &random)
        #expect(OutgoingRequests(text: requests.text) == requests)
        add(requests.lastRequestID | 1, .settingsRequest, to: &requests)
        #expect(OutgoingRequests(text: requests.text)?.open.map(\.successorCount) == [2, 1, 0])
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
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .missing)
        for _ in 0..<3 { try file.save(example()) }
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .intact(example()))
        // A power cut during a rename may leave two names for one file. A save must not write to that file.
        let newPath = "\(file.path).new"
        #expect(unsafe link(file.path, newPath) == 0)
        try file.save(example())
        #expect(unsafe access(newPath, F_OK) != 0)
        #expect(try file.load(deviceID: collar, receiverID: receiver) == .intact(example()))
        #expect(try files.names(in: directory.path) == ["requests"])
        try file.setAside()
        #expect(try files.names(in: directory.path) == ["requests.unusable"])
    }
}
