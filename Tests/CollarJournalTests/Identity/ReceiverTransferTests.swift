import CollarARQ
import CollarWire
import Glibc
import Testing

@testable import CollarJournal

/// A receiver that moves from one machine to another.
@Suite struct ReceiverTransferTests {
    private let old = MemoryFileSystem()
    private let new = MemoryFileSystem()

    init() {
        old.replace("/etc/machine-id", with: Array("old".utf8))
        new.replace("/etc/machine-id", with: Array("new".utf8))
    }

    private func load(_ files: MemoryFileSystem, random: UInt8) throws(JournalError) -> UInt32 {
        var generator = CountingGenerator(byte: random)
        return try ReceiverIdentity.load(stateDirectory: "/state", fileSystem: files, random: &generator).receiverID
    }

    private func retire(_ files: MemoryFileSystem) throws(JournalError) -> ReceiverTransfer {
        try .retiring(stateDirectory: "/state", nowUnixMilliseconds: 1, fileSystem: files)
    }

    private func takeOver(_ transfer: ReceiverTransfer, _ files: MemoryFileSystem) throws(JournalError) {
        var generator = CountingGenerator(byte: 0x33)
        try transfer.takeOver(stateDirectory: "/state", nowUnixMilliseconds: 2, fileSystem: files, random: &generator)
    }

    private func fill(_ files: MemoryFileSystem, receiverID: UInt32) throws {
        let journal = try Journal.open(
            stateDirectory: "/state", deviceID: collar, receiverID: receiverID, nowUnixMilliseconds: 1, fileSystem: files)
        try append(0...4, to: journal)
        try append(7...8, to: journal)
        try journal.commit()
    }

    @Test func itKeepsItsIDAndWhatItHas() throws {
        let receiverID = try load(old, random: 0xA0)
        try fill(old, receiverID: receiverID)
        let transfer = try retire(old)
        #expect(transfer.receiverID == receiverID)
        #expect(transfer.logs.map(\.covered) == [[SequenceRange(0, 4), SequenceRange(7, 8)].compactMap { $0 }])
        let retired = JournalError.retired(receiverID: receiverID, path: "/state/receiver")
        #expect(throws: retired) { try load(old, random: 0xB0) }
        #expect(try retire(old) == transfer)

        try takeOver(transfer, new)
        #expect(try load(new, random: 0xB0) == receiverID)
        let journal = try Journal.open(
            stateDirectory: "/state", deviceID: collar, receiverID: receiverID, nowUnixMilliseconds: 1, fileSystem: new)
        #expect(journal.durable(logID: log).ranges == transfer.logs.first?.covered)
        #expect(journal.previousReceiverID == nil)
        // The fixes stored before the move count as stored: a repeated one is a duplicate, and none counts as lost.
        #expect(journal.contains(3, logID: log))
        #expect(journal.durable(logID: log).lost.ranges.isEmpty)
        #expect(try !journal.append(record(3)))
        // A copy of the new state directory on another machine is another receiver.
        new.replace("/etc/machine-id", with: Array("newer".utf8))
        #expect(try load(new, random: 0xB0) != receiverID)
    }

    @Test func itComesBack() throws {
        let receiverID = try load(old, random: 0xA0)
        try takeOver(try retire(old), old)
        #expect(try load(old, random: 0xB0) == receiverID)
    }

    @Test func anotherReceiverIsNotReplaced() throws {
        _ = try load(old, random: 0xA0)
        let other = try load(new, random: 0xB0)
        let transfer = try retire(old)
        try fill(new, receiverID: other)
        #expect(throws: JournalError.otherReceiver(path: "/state")) { try takeOver(transfer, new) }
        #expect(try load(new, random: 0xC0) == other)
    }

    @Test(arguments: [FileOperation.create, .write, .synchronize, .rename, .makeDirectory])
    func aMoveThatFailsCanBeRepeated(operation: FileOperation) throws {
        let receiverID = try load(old, random: 0xA0)
        try fill(old, receiverID: receiverID)
        let transfer = try retire(old)
        new.failures = [(operation, EIO)]
        #expect(throws: JournalError.self) { try takeOver(transfer, new) }
        #expect(new.failures.isEmpty)
        try takeOver(transfer, new)
        #expect(try load(new, random: 0xB0) == receiverID)
    }

    @Test func theTextTellsAllOfIt() throws {
        let receiverID = try load(old, random: 0xA0)
        try fill(old, receiverID: receiverID)
        let transfer = try retire(old)
        #expect(try ReceiverTransfer(text: transfer.text) == transfer)
        let lines = transfer.text.split(separator: "\n")
        for count in 0..<lines.count {
            let cut = lines[..<count].map { $0 + "\n" }.joined()
            #expect(throws: ReceiverTransfer.TextFault.self) { try ReceiverTransfer(text: cut) }
        }
        for (right, wrong) in [("id ", "id 0"), ("log ", "log g"), ("0-4", "4-0"), ("0-4 7-8", "7-8 0-4"), ("7-8", "7-4294967295")] {
            let text = transfer.text.replacing(right, with: wrong == "id 0" ? "id 0\n#" : wrong)
            #expect(throws: ReceiverTransfer.TextFault.self, "\(wrong)") { try ReceiverTransfer(text: text) }
        }
    }
}
