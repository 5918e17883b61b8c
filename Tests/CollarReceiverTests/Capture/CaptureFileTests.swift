import CollarARQ
import CollarJournal
import FoundationEssentials
import Glibc
import Testing

@testable import CollarReceiver

/// The file of a capture: what is in it before, what is added, and what happens where it cannot be written.
@Suite final class CaptureFileTests {
    private let folder = "/tmp/collar-link-capture-\(UUID().uuidString)"
    private let time = RecordedDay.start
    private var reports: [CaptureFileError] = []

    init() throws { try #require(unsafe mkdir(folder, 0o700) == 0) }

    deinit {
        do { try FileManager.default.removeItem(atPath: folder) } catch {}
    }

    private var path: String { "\(folder)/capture" }

    private func open(_ receiverID: UInt32 = 1) throws -> CaptureFile {
        try CaptureFile(path, receiverID: receiverID, at: time) { [unowned self] in reports.append($0) }
    }

    private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

    private func content() throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    private func records() throws -> [CaptureRecord] {
        var reader = CaptureReader()
        reader.append(try content())
        var records: [CaptureRecord] = []
        while let record = try reader.next() { records.append(record) }
        try reader.finish()
        return records
    }

    private func events() throws -> [CaptureEvent] { try records().map(\.event) }

    @Test func recordsAreInTheFileAtOnce() throws {
        let file = try open()
        #expect(file.path == path)
        #expect(try events() == [.began(receiverID: 1)])
        file.note(.read([1, 2]), port: "a", at: time)
        #expect(try events() == [.began(receiverID: 1), .read([1, 2])])
        file.note(.read([3]), port: "b", at: HostTime(instant: time.instant.advanced(byMicroseconds: 5), unixMilliseconds: 7))
        file.note(.ended, at: time)
        #expect(try records().map(\.port) == ["collar-link", "a", "b", "collar-link"])
        #expect(try records()[2].time.instant.microseconds == (try records()[1].time.instant.microseconds) + 5)
        #expect(try records()[2].time.unixMilliseconds == 7)
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600, "positions are for their owner alone")
    }

    @Test func recordsBetweenTwoWritesOfLinesAreOfOneRound() throws {
        let file = try open()
        file.note(.read([1]), port: "a", at: time)
        file.beginRound()
        file.note(.read([2]), port: "a", at: time)
        file.note(.read([3]), port: "b", at: time)
        file.beginRound()
        file.note(.due, at: time)
        let rounds = try records().map(\.round)
        #expect(rounds[0] == rounds[1] && rounds[2] == rounds[3])
        #expect(Set(rounds).count == 3)
    }

    @Test func aFurtherRunGoesOnInAnotherSection() throws {
        for receiverID in 1...3 as ClosedRange<UInt32> {
            let file = try open(receiverID)
            file.note(.unplugged, port: "port \(receiverID)", at: time)
        }
        #expect(
            try events() == [
                .began(receiverID: 1), .unplugged, .began(receiverID: 2), .unplugged, .began(receiverID: 3), .unplugged,
            ])
        #expect(try records().map(\.port).filter { $0 != "collar-link" } == ["port 1", "port 2", "port 3"])
    }

    /// A power cut leaves a part of the last record, whatever its length.
    @Test(arguments: [1, 11, 12, 13, 40])
    func whatAPowerCutLeftOfARecordIsRemoved(cut: Int) throws {
        try open().note(.read([1, 2, 3, 4]), port: "a", at: time)
        let whole = try content()
        try open(2).note(.read([5, 6, 7, 8]), port: "a", at: time)
        let both = try content()
        try #require(both.count - whole.count > 80)
        try write(Array(both.dropLast(cut)))
        _ = try open(3)
        let events = try events()
        #expect(events.first == .began(receiverID: 1) && events[1] == .read([1, 2, 3, 4]))
        #expect(events[2] == .began(receiverID: 2))
        #expect(events.last == .began(receiverID: 3))
        #expect(events.count == 4, "the record that was cut is gone, and nothing else")
    }

    /// A section of pcapng of another program: a block of the section, and perhaps one of another kind.
    private static func foreignSection(_ more: [UInt8] = []) -> [UInt8] {
        var body = CaptureBytes()
        body.append(CaptureFormat.byteOrderMagic)
        body.append(UInt16(1))
        body.append(UInt16(0))
        body.append(UInt64.max)
        return body.block(CaptureFormat.Block.section) + more
    }

    private static func foreignInterface() -> [UInt8] {
        var body = CaptureBytes()
        body.append(UInt16(1))
        body.append(UInt16(0))
        body.append(UInt32(0))
        return body.block(CaptureFormat.Block.interface)
    }

    /// Bytes of any length that are no capture stay as they are, also those that are too few to be anything.
    @Test func aFileThatHoldsSomethingElseIsLeftAlone() throws {
        let others: [[UInt8]] = [
            Array("x".utf8), Array("notes\n".utf8), Array("hello world".utf8), Array("hello world!".utf8),
            Array(String(repeating: "a long text\n", count: 10_000).utf8), [0], [UInt8](repeating: 0, count: 500),
            CaptureFormat.magic, Self.foreignSection(), Self.foreignSection(Self.foreignInterface()),
            Array(Self.foreignSection().dropLast()),
        ]
        for bytes in others {
            try write(bytes)
            #expect(throws: CaptureFileError.otherContent(path: path), "\(bytes.prefix(20))") { try self.open() }
            #expect(try content() == bytes, "\(bytes.prefix(20))")
        }
    }

    @Test func anEmptyFileBecomesACapture() throws {
        try write([])
        _ = try open()
        #expect(try events() == [.began(receiverID: 1)])
    }

    /// A capture may be longer than what is read of it at once.
    @Test func aLongCaptureGoesOnAtItsEnd() throws {
        let bytes = [UInt8](repeating: 7, count: 5000)
        let first = try open()
        for _ in 0..<40 { first.note(.read(bytes), port: "a", at: time) }
        #expect(throws: CaptureFileError.inUse(path: path)) { try self.open(2) }
        #expect(try events().count == 41)
    }

    @Test func aLongCaptureIsReadToItsEnd() throws {
        let bytes = [UInt8](repeating: 7, count: 5000)
        do {
            let first = try open()
            for _ in 0..<40 { first.note(.read(bytes), port: "a", at: time) }
        }
        try open(2).note(.ended, at: time)
        let events = try events()
        #expect(events.count == 43 && Array(events.suffix(2)) == [.began(receiverID: 2), .ended])
    }

    @Test func aFolderAndAMissingFolderAreNoFiles() throws {
        #expect(throws: CaptureFileError.system(path: "\(folder)/none/capture", operation: "open", errorNumber: ENOENT)) {
            try CaptureFile("\(self.folder)/none/capture", receiverID: 1, at: self.time) { _ in }
        }
        #expect(throws: CaptureFileError.notAFile(path: "/dev/null")) {
            try CaptureFile("/dev/null", receiverID: 1, at: self.time) { _ in }
        }
    }

    @Test func aFailedOpeningLeavesNothingInUse() throws {
        try write(Array("notes\n".utf8))
        #expect(throws: CaptureFileError.otherContent(path: path)) { try self.open() }
        try write([])
        _ = try open()
        _ = try open()
        #expect(try events().count == 2 && reports.isEmpty)
    }

    /// The file cannot grow any more: that is told once, and what is there stays a capture.
    @Test func aFailureIsToldOnceAndEndsTheCapture() throws {
        // F_ADD_SEALS, and the seal against growing. Glibc's module has neither these nor the function that makes such a file.
        let (addSeals, growth): (Int32, Int32) = (1033, 4)
        typealias Creation = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
        guard let symbol = unsafe dlsym(nil, "memfd_create") else {
            Issue.record("memfd_create is missing")
            return
        }
        let create = unsafe unsafeBitCast(symbol, to: Creation.self)
        let memory = unsafe create("capture", 2)
        try #require(memory >= 0)
        defer { close(memory) }
        let path = "/proc/self/fd/\(memory)"
        let file = try CaptureFile(path, receiverID: 1, at: time) { [unowned self] in reports.append($0) }
        file.note(.read([1]), port: "a", at: time)
        try #require(fcntl(memory, addSeals, growth) == 0)
        for _ in 0..<3 { file.note(.read([2]), port: "a", at: time) }
        #expect(reports == [.system(path: path, operation: "write", errorNumber: EPERM)])
        var bytes = [UInt8](repeating: 0, count: 10_000)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(memory, $0.baseAddress, $0.count, 0) }
        try #require(count > 0)
        var reader = CaptureReader()
        reader.append(Array(bytes[..<count]))
        var events: [CaptureEvent] = []
        while let record = try reader.next() { events.append(record.event) }
        try reader.finish()
        #expect(events == [.began(receiverID: 1), .read([1])])
    }
}
