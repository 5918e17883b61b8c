import CollarFirmware
import CollarSimulator
import Glibc
import Testing

@testable import LinuxBoard

func contents(of flash: some FlashDevice, at offset: Int, count: Int) throws -> [UInt8] {
    var flash = flash
    return try [UInt8](capacity: count) { output in try flash.read(at: offset, into: &output) }
}

/// The simulated flash behaves as NOR flash does.
@Suite struct FlashTests {
    private func checkNOR(_ device: some FlashDevice) throws {
        var flash = device
        let size = flash.blockByteCount
        #expect(try contents(of: flash, at: 0, count: 4) == [0xFF, 0xFF, 0xFF, 0xFF])
        try flash.program(([0xF0, 0x0F, 0xAA] as [UInt8]).span, at: size - 1)
        #expect(try contents(of: flash, at: size - 2, count: 5) == [0xFF, 0xF0, 0x0F, 0xAA, 0xFF])
        try flash.program(([0x3C, 0xFF, 0x55] as [UInt8]).span, at: size - 1)
        #expect(try contents(of: flash, at: size - 2, count: 5) == [0xFF, 0x30, 0x0F, 0x00, 0xFF])
        try flash.erase(block: 0)
        #expect(try contents(of: flash, at: size - 2, count: 5) == [0xFF, 0xFF, 0x0F, 0x00, 0xFF])
        try flash.erase(block: 1)
        #expect(try contents(of: flash, at: size - 2, count: 5) == [0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
    }

    @Test func programmingClearsBitsAndErasingSetsABlock() throws {
        try checkNOR(MemoryFlash(blockByteCount: 512, blockCount: 4))
        let file = TemporaryFile()
        try checkNOR(FileFlash(path: file.path, blockByteCount: 512, blockCount: 4))
    }

    private func checkEnd(_ device: some FlashDevice) throws {
        var flash = device
        let bytes: [UInt8] = [1, 2]
        #expect(throws: FlashError.program(offset: 2047)) { try flash.program(bytes.span, at: 2047) }
        #expect(throws: FlashError.erase(block: 4)) { try flash.erase(block: 4) }
        #expect(throws: FlashError.erase(block: -1)) { try flash.erase(block: -1) }
        #expect(throws: FlashError.read(offset: 2047)) { try contents(of: flash, at: 2047, count: 2) }
        #expect(try contents(of: flash, at: 0, count: 2048).allSatisfy { $0 == 0xFF })
    }

    @Test func whatLiesOutsideIsRefused() throws {
        try checkEnd(MemoryFlash(blockByteCount: 512, blockCount: 4))
        let file = TemporaryFile()
        try checkEnd(FileFlash(path: file.path, blockByteCount: 512, blockCount: 4))
        try checkEnd(FileFlash(path: file.path, blockByteCount: 512, blockCount: 4))
    }

    @Test func aFlashFileKeepsItsContents() throws {
        let file = TemporaryFile()
        do {
            let flash = try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4)
            try flash.program(([1, 2, 3] as [UInt8]).span, at: 700)
        }
        let again = try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4)
        #expect(try contents(of: again, at: 699, count: 5) == [0xFF, 1, 2, 3, 0xFF])
    }

    @Test func aFlashFileHasOneUser() throws {
        let file = TemporaryFile()
        do {
            let flash = try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4)
            try flash.program(([1] as [UInt8]).span, at: 0)
            let error = #expect(throws: FileFlash.OpenError.self) {
                try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4)
            }
            #expect(error?.errorNumber == EBUSY)
            #expect(error?.path == file.path)
            #expect(try contents(of: flash, at: 0, count: 2) == [1, 0xFF])
        }
        let again = try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4)
        #expect(try contents(of: again, at: 0, count: 2) == [1, 0xFF])
    }

    @Test func aFileOfAnotherSizeIsNotTouched() throws {
        let file = TemporaryFile()
        do { _ = try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4) }
        let error = #expect(throws: FileFlash.OpenError.self) {
            try FileFlash(path: file.path, blockByteCount: 512, blockCount: 5)
        }
        #expect(error?.errorNumber == 0)
        #expect(error?.reason.contains("2048 bytes instead of 2560") == true)
        let again = try FileFlash(path: file.path, blockByteCount: 512, blockCount: 4)
        #expect(try contents(of: again, at: 2044, count: 4) == [0xFF, 0xFF, 0xFF, 0xFF])
    }

    @Test func aPathThatCannotBeOpenedSaysWhy() {
        let error = #expect(throws: FileFlash.OpenError.self) {
            try FileFlash(path: TemporaryFile().path + "/flash", blockCount: 4)
        }
        #expect(error?.errorNumber == ENOENT)
    }
}

/// A path for one test. The file at this path is removed when the object is released.
final class TemporaryFile {
    let path: String

    init() { path = "/tmp/collar-flash-\(getpid())-\(UInt64.random(in: .min ... .max))" }

    deinit { unsafe unlink(path) }
}
