import CollarConfiguration
import CollarJournal
import FoundationEssentials
import Glibc
import RadioModems
import Testing

@testable import CollarReceiver

/// What the state directory keeps about sticks.
@Suite final class StickFilesTests {
    private let directory = "/tmp/collar-link-sticks-\(UUID().uuidString)"

    init() throws { try #require(unsafe mkdir(directory, 0o700) == 0) }

    deinit {
        do { try FileManager.default.removeItem(atPath: directory) } catch {}
    }

    @Test func aDialectIsRemembered() {
        var memory = StickMemory(stateDirectory: directory)
        #expect(memory.dialect(of: "usb 10c4 ea60 0001") == nil)
        memory.remember(.kiss, of: "usb 10c4 ea60 0001")
        memory.remember(.rnode, of: "socket pci-0000:00:14.0-usb-0:2:1.0")
        memory.remember(.rui3, of: "usb 10c4 ea60 0001")
        let again = StickMemory(stateDirectory: directory)
        #expect(again.dialect(of: "usb 10c4 ea60 0001") == .rui3)
        #expect(again.dialect(of: "socket pci-0000:00:14.0-usb-0:2:1.0") == .rnode)
        #expect(again.dialect(of: "usb") == nil)
    }

    @Test func aRestartGainsNoAirtime() {
        let start: Int64 = 1_800_000_000_000
        let first = AirtimeMemory(stateDirectory: directory)
        #expect(first.isRested(at: start))
        var sending = first
        sending.noteTransmission(at: start)
        // The file is not replaced for each transmission, so an hour and ten minutes must pass.
        sending.noteTransmission(at: start + 599_000)
        for (later, isRested) in [(0, false), (3_600_000, false), (4_200_000, false), (4_200_001, true), (-1, false)] as [(Int64, Bool)] {
            #expect(AirtimeMemory(stateDirectory: directory).isRested(at: start + later) == isRested, "\(later)")
        }
    }

    @Test func aTransmissionAfterTheClockWentBackIsNoted() {
        let start: Int64 = 1_800_000_000_000
        var memory = AirtimeMemory(stateDirectory: directory)
        memory.noteTransmission(at: start)
        let earlier = start - 86_400_000
        memory.noteTransmission(at: earlier)
        #expect(!AirtimeMemory(stateDirectory: directory).isRested(at: earlier + 4_200_000))
        #expect(AirtimeMemory(stateDirectory: directory).isRested(at: earlier + 4_200_001))
    }

    @Test func aDamagedFileAllowsNothing() throws {
        try "now".write(toFile: directory + "/airtime", atomically: false, encoding: .utf8)
        #expect(!AirtimeMemory(stateDirectory: directory).isRested(at: 1_800_000_000_000))
    }

    /// A transmission is noted again once ten minutes have passed, in either direction, also by the same process.
    @Test(arguments: [(599_999, false), (600_000, true), (-599_999, false), (-600_000, true)] as [(Int64, Bool)])
    func aTransmissionIsNotedOnceInTenMinutes(later: Int64, isNoted: Bool) {
        let start: Int64 = 1_800_000_000_000
        var memory = AirtimeMemory(stateDirectory: directory)
        memory.noteTransmission(at: start)
        memory.noteTransmission(at: start + later)
        let noted = isNoted ? start + later : start
        for memory in [memory, AirtimeMemory(stateDirectory: directory)] {
            #expect(!memory.isRested(at: noted + 4_200_000) && memory.isRested(at: noted + 4_200_001))
        }
    }

    /// An empty file is what a power cut leaves of the first note: a radio that was never used is rested.
    @Test(arguments: [("", true), ("\n", false), ("-1\n", true), ("1800000000000", true), ("1800000000000x", false)])
    func whatTheFileOfTransmissionsTells(text: String, isRested: Bool) throws {
        try text.write(toFile: directory + "/airtime", atomically: false, encoding: .utf8)
        #expect(AirtimeMemory(stateDirectory: directory).isRested(at: 1_800_004_200_001) == isRested)
    }
}
