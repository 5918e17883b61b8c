import CollarFirmware
import CollarWorld
import Testing

/// The flash tears writes, fails, and notices misuse.
@Suite struct FaultyFlashTests {
    private func flash(seed: UInt64 = 1) -> FaultyFlash { FaultyFlash(blockByteCount: 512, blockCount: 4, seed: seed) }

    private func byte(of flash: FaultyFlash, at offset: Int) throws -> [UInt8] {
        try [UInt8](capacity: 1) { output in try flash.read(at: offset, into: &output) }
    }

    @Test func aPowerCutLeavesAPrefixAndSomeBitsOfTheByteBehindIt() throws {
        let bytes = [UInt8](repeating: 0, count: 10)
        var halves: Set<UInt8> = []
        for seed in 0..<60 as Range<UInt64> {
            let flash = flash(seed: seed)
            flash.stepsUntilPowerCut = 4
            #expect(throws: FlashError.program(offset: 20)) { try flash.program(bytes.span, at: 20) }
            #expect(Array(flash.contents[20..<24]) == [0, 0, 0, 0])
            #expect(flash.contents[25..<30].allSatisfy { $0 == 0xFF })
            halves.insert(flash.contents[24])
            #expect(flash.isPowerLost)
            #expect(throws: FlashError.read(offset: 0)) { try byte(of: flash, at: 0) }
            flash.restorePower()
            #expect(try byte(of: flash, at: 20) == [0])
        }
        #expect(halves.count > 20)
    }

    @Test func aPowerCutInAnEraseLeavesAMixture() throws {
        var counts: Set<Int> = []
        for seed in 0..<60 as Range<UInt64> {
            let flash = flash(seed: seed)
            let bytes = [UInt8](repeating: 0, count: 512)
            try flash.program(bytes.span, at: 512)
            flash.stepsUntilPowerCut = 3
            #expect(throws: FlashError.erase(block: 1)) { try flash.erase(block: 1) }
            counts.insert(flash.contents[512..<1024].filter { $0 == 0xFF }.count)
            #expect(flash.contents[1024...].allSatisfy { $0 == 0xFF })
        }
        #expect(counts.count > 20)
    }

    @Test func aPowerCutBeforeAnEraseLeavesEverything() throws {
        let flash = flash()
        try flash.program(([1, 2, 3] as [UInt8]).span, at: 512)
        flash.stepsUntilPowerCut = 0
        #expect(throws: FlashError.erase(block: 1)) { try flash.erase(block: 1) }
        #expect(Array(flash.contents[512..<515]) == [1, 2, 3])
    }

    @Test func programmingWithoutAnEraseIsNoticed() throws {
        let flash = flash()
        try flash.program(([0xF0] as [UInt8]).span, at: 700)
        #expect(flash.programmedTwice == nil)
        try flash.program(([0xFF, 0x0F] as [UInt8]).span, at: 700)
        #expect(flash.programmedTwice == 700)
        #expect(flash.contents[700] == 0xF0 && flash.contents[701] == 0x0F)
    }

    @Test func failuresLeaveThePowerOn() throws {
        let flash = flash()
        flash.failureProbability = 1
        #expect(throws: FlashError.erase(block: 2)) { try flash.erase(block: 2) }
        #expect(!flash.isPowerLost)
        flash.failureProbability = 0
        try flash.erase(block: 2)
    }
}
