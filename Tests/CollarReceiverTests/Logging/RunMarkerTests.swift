import Glibc
import Testing

@testable import CollarReceiver

/// The mark of a run in the state directory, and what a start learns from it.
@Suite struct RunMarkerTests {
    /// The mark of a run is no link: what it leads to stays as it is, and nothing is learned from it.
    @Test func aMarkThatIsALinkIsNotFollowed() throws {
        let bench = try ReceiverBench()
        let boot = String(decoding: try bench.read("../../proc/sys/kernel/random/boot_id"), as: UTF8.self)
        let text = "process=77\nboot=\(boot)"
        try bench.write(text, to: "victim")
        try #require(unsafe symlink("\(bench.folder)/victim", "\(bench.stateDirectory)/running") == 0)
        do {
            let marker = RunMarker(stateDirectory: bench.stateDirectory)
            #expect(marker.previousEnd == nil)
        }
        #expect(String(decoding: try bench.read("victim"), as: UTF8.self) == text)
        #expect(unsafe access("\(bench.stateDirectory)/running", F_OK) == 0, "it is not this receiver's")
    }

    @Test(arguments: [
        ("process=0\nboot=abc\n", nil), ("process=1\nboot=abc\nsignal=64\n", EndOfRun(processID: 1, signal: 64)),
        ("process=1\nboot=abc\nsignal=65\n", nil), ("process=2147483648\nboot=abc\n", nil), ("process=-1\nboot=abc\n", nil),
        ("process=1\nboot=abcd\n", nil), ("process=1\nboot=\n", nil),
    ])
    func aMarkWithImpossibleValuesTellsNothing(text: String, end: EndOfRun?) {
        #expect(RunMarker.end(in: CaptureFields(Array(text.utf8)), boot: "abc") == end)
    }
}
