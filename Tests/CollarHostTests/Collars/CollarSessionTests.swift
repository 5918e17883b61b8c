import CollarHost
import CollarJournal
import CollarWire
import Testing

/// Damage that is found after the collar has told what it does not have any more.
@Suite struct LossAfterDamageTests {
    private static let path = "/state/00000000000000c0/00000001.journal"

    private func byteCount(of bench: HostBench) throws -> Int {
        let file = try bench.disk.open(Self.path, .reading)
        defer { bench.disk.close(file) }
        return try bench.disk.byteCount(of: file)
    }

    private func damage(_ bench: HostBench, at offset: Int) throws {
        let file = try bench.disk.open(Self.path, .writing)
        defer { bench.disk.close(file) }
        var byte: [UInt8] = []
        try bench.disk.read(from: file, at: offset, count: 1, into: &byte)
        _ = try bench.disk.write([byte[0] ^ 0xFF], from: 0, to: file, at: offset)
    }

    /// A simulation found this (seed 7000034681). A receiver that only listens does not ask the collar for the fix, so that nothing
    /// told that it will not come, and all later fixes were held back.
    @Test func aFixBelowTheOldestOneIsLostAndHoldsNothingBack() throws {
        let bench = try HostBench {
            $0.selection.isSorted = true
            $0.segmentByteLimit = 1024
        }
        var collar = try PaperCollar()
        collar.receiverID = 99
        let link = bench.openLink()
        bench.receive(try collar.identity(next: 60), on: link)
        bench.commit()
        var place = 0..<0
        for sequence in 0..<60 as Range<UInt32> {
            let start = try byteCount(of: bench)
            bench.receive(try collar.fix(sequence), on: link)
            bench.commit()
            if sequence == 1 { place = start..<(try byteCount(of: bench)) }
        }
        try #require(place.count > 8)
        try bench.restart()
        try damage(bench, at: place.lowerBound + 8)
        let other = bench.openLink()
        bench.receive(try collar.identity(next: 60, oldest: 60), on: other)
        var taken: [UInt32] = []
        for _ in 0..<8 { taken += bench.takeFixes().map(\.fix.sequence) }
        #expect(taken == [0] + Array(2..<60))
    }
}
