import CollarJournal
import FoundationEssentials
import RadioModems
import Testing

@testable import CollarConfiguration

/// The dialects that were found at sticks before, over restarts of the receiver.
@Suite final class StickMemoryTests {
    private let directory = "/tmp/collar-link-sticks-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    deinit {
        do { try FileManager.default.removeItem(atPath: directory) } catch {}
    }

    private var memory: StickMemory { StickMemory(stateDirectory: directory) }

    private var text: String? {
        FileManager.default.contents(atPath: directory + "/sticks").map { String(decoding: $0, as: UTF8.self) }
    }

    private func write(_ text: String) throws {
        try #require(FileManager.default.createFile(atPath: directory + "/sticks", contents: Data(text.utf8)))
    }

    @Test func nothingIsKnownAtFirst() {
        #expect(memory.dialect(of: "a") == nil)
        #expect(text == nil)
    }

    @Test func sticksOfOneDialectAreEachRemembered() {
        var memory = memory
        for stick in ["usb 1", "usb 2", "socket 3"] { memory.remember(.kiss, of: stick) }
        memory.remember(.rnode, of: "usb 4")
        for one in [memory, self.memory] {
            #expect(["usb 1", "usb 2", "socket 3", "usb 4", "usb"].map { one.dialect(of: $0) } == [.kiss, .kiss, .kiss, .rnode, nil])
        }
        #expect(text == "kiss usb 1\nkiss usb 2\nkiss socket 3\nrnode usb 4\n")
    }

    @Test(arguments: Dialect.allCases) func everyDialectIsReadBack(dialect: Dialect) {
        var memory = memory
        memory.remember(dialect, of: "a")
        #expect(self.memory.dialect(of: "a") == dialect)
    }

    @Test func anotherFirmwareOfAStickReplacesTheFormer() {
        var memory = memory
        memory.remember(.kiss, of: "a")
        memory.remember(.kiss, of: "b")
        memory.remember(.rnode, of: "a")
        #expect(memory.dialect(of: "a") == .rnode && memory.dialect(of: "b") == .kiss)
        #expect(text == "kiss b\nrnode a\n")
        memory.remember(.kiss, of: "a")
        #expect(self.memory.dialect(of: "a") == .kiss)
        #expect(text == "kiss b\nkiss a\n")
    }

    @Test func whatIsKnownIsNotWrittenAgain() throws {
        var memory = memory
        memory.remember(.kiss, of: "a")
        try FileManager.default.removeItem(atPath: directory + "/sticks")
        memory.remember(.kiss, of: "a")
        #expect(text == nil)
        memory.remember(.kiss, of: "b")
        #expect(text == "kiss a\nkiss b\n")
    }

    @Test func whatWasRememberedBeforeARestartStays() {
        var first = memory
        first.remember(.kiss, of: "a")
        var second = memory
        second.remember(.rui3, of: "b")
        #expect(memory.dialect(of: "a") == .kiss && memory.dialect(of: "b") == .rui3)
    }

    @Test func theOldestOf257SticksIsForgotten() {
        var memory = memory
        for number in 1...256 { memory.remember(.kiss, of: "stick \(number)") }
        #expect(memory.dialect(of: "stick 1") == .kiss)
        // It was found again with other firmware, so it is not the oldest any more.
        memory.remember(.rnode, of: "stick 1")
        memory.remember(.kiss, of: "stick 257")
        for one in [memory, self.memory] {
            #expect([1, 2, 3, 257].map { one.dialect(of: "stick \($0)") } == [.rnode, nil, .kiss, .kiss])
        }
    }

    @Test func linesThatAreWrongArePassedOver() throws {
        try write("kiss a b\nlora c\nrnode\n\nrui3  d\nrnode a b\nserial e")
        #expect(["a b", "c", "e"].map { memory.dialect(of: $0) } == [.rnode, nil, .serial])
        let read = StickMemory.dialects(in: "kiss a b\nlora c\nrnode\n\nrnode a b\n")
        #expect(read.map(\.stick) == ["a b", "a b"])
        #expect(read.map(\.dialect) == [.kiss, .rnode])
    }

    @Test func aNameOfTwoLinesIsNotRemembered() {
        var memory = memory
        memory.remember(.kiss, of: "a\nrnode b")
        #expect(self.memory.dialect(of: "b") == nil && self.memory.dialect(of: "a") == nil)
        #expect(text == nil)
    }

    @Test func aMemoryThatCannotBeStoredIsNoError() {
        var memory = StickMemory(stateDirectory: directory + "/none")
        memory.remember(.kiss, of: "a")
        #expect(memory.dialect(of: "a") == .kiss)
        #expect(StickMemory(stateDirectory: directory + "/none").dialect(of: "a") == nil)
    }
}
