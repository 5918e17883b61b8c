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
}
