import CollarFirmware
import CollarWire
import Testing

/// Logs with high sequences, up to the last one.
@Suite struct FixLogEndTests {
    /// A flash whose log has reached a block that starts at the sequence `first`. Only the header of this block is written.
    private func flash(withBlockStartingAt first: UInt32, slotsPerBlock: UInt32) throws -> TestFlash {
        var flash = TestFlash()
        var header: [UInt8] = []
        for value in [0x434C_4632, logID, first, 0] as [UInt32] {
            header += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        var check = CRC24()
        check.update(bigEndian: 0 as UInt32)
        check.update(header.span, from: 0, to: header.count)
        header += [16, 8, 0].map { UInt8(truncatingIfNeeded: check.checksum >> $0) }
        let place = Int(first / slotsPerBlock % UInt32(flash.blockCount - firstLogBlock))
        try flash.program(header.span, at: (firstLogBlock + place) * flash.blockByteCount)
        return flash
    }

    @Test func aLogGoesOnFromAnyBlock() throws {
        var flash = try flash(withBlockStartingAt: 13 * 1_000_000, slotsPerBlock: 13)
        var log = try mountLog(&flash)
        #expect(log.nextSequence == 13_000_000)
        #expect(log.oldestSequence == 13_000_000)
        #expect(try log.append(fix(1), to: &flash) == 13_000_000)
        let again = try mountLog(&flash)
        #expect(again.nextSequence == 13_000_001)
        #expect(try again.fix(13_000_000, in: &flash) == fix(1, sequence: 13_000_000))
    }

    /// The number of sequences, 2^32 − 1, is not a multiple of the slots in a block, so the last block is not used to its end.
    @Test func theLastBlockCanBeMountedAndFilled() async {
        await #expect(processExitsWith: .success) {
            let start: UInt32 = UInt32.max / 13 * 13
            var flash = try FixLogEndTests().flash(withBlockStartingAt: start, slotsPerBlock: 13)
            var log = try mountLog(&flash)
            for sequence in start...Fix.maximumSequence {
                guard try log.append(fix(7), to: &flash) == sequence else { throw FlashError.read(offset: 0) }
            }
            do throws(FixLogError) {
                _ = try log.append(fix(7), to: &flash)
                throw .encoding(.frameTooSmall(neededByteCount: 0))
            } catch { guard error == .full else { throw error } }
        }
    }
}
