import CollarFirmware
import CollarWire
import Glibc
import LinuxSystem
import Testing

@testable import LinuxBoard

@Suite struct DeviceFileTests {
    private let file = TemporaryFile()
    private let key = TemporaryFile()

    @Test func aNewDeviceHasAnIdAnAddressAndTheKeyOfTheKeyFile() throws {
        let madeID = try DeviceFile.make(at: file.path, keyPath: key.path)
        let made = try DeviceFile(path: file.path)
        #expect(made.deviceID == madeID)
        let text = try #require(SystemFiles.firstLine(of: key.path))
        #expect(text.count == 32)
        let bytes = try #require(SystemFiles.content(of: file.path))
        #expect(bytes[16..<32].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == text)
        #expect(Array(bytes[0..<4]) == Array("CLFB".utf8))
        #expect(bytes[4..<12].reduce(0 as UInt64) { $0 << 8 | UInt64($1) } == made.deviceID.rawValue)
        #expect(bytes[12] == made.address && (1...254).contains(made.address))
        #expect(made.key == CollarKey(bytes.span.extracting(16..<32)))
        #expect(bytes[8192...].allSatisfy { $0 == 0xFF } && bytes.count == 8192 + 2048 * 4096)
        let again = try DeviceFile(path: file.path)
        #expect(again.deviceID == made.deviceID && again.address == made.address && again.key == made.key)
    }

    /// The first start of a new collar is one, too. This machine has not started between the two.
    @Test func onlyTheFirstStartAfterABootIsAPowerOn() throws {
        _ = try DeviceFile.make(at: file.path, keyPath: key.path)
        #expect(try DeviceFile(path: file.path).isPowerOn)
        #expect(try !DeviceFile(path: file.path).isPowerOn)
        try change(4096, to: 0)
        #expect(try DeviceFile(path: file.path).isPowerOn)
        #expect(try !DeviceFile(path: file.path).isPowerOn)
    }

    @Test func aKeyFileIsNotReplaced() throws {
        _ = try DeviceFile.make(at: file.path, keyPath: key.path)
        let other = TemporaryFile()
        #expect(throws: DeviceFile.Failure.exists(path: key.path)) { try DeviceFile.make(at: other.path, keyPath: key.path) }
        #expect(SystemFiles.status(of: other.path) == nil)
    }

    @Test func aDeviceThatCannotBeMadeLeavesNoKey() {
        let path = "\(file.path)-missing/cat"
        #expect(throws: DeviceFile.Failure.system(path: "\(path).new", operation: "open", errorNumber: ENOENT)) {
            try DeviceFile.make(at: path, keyPath: key.path)
        }
        #expect(SystemFiles.status(of: key.path) == nil)
    }

    @Test(arguments: [0, 5, 12, 20, 34]) func aDamagedDeviceIsNoCollar(place: Int) throws {
        _ = try DeviceFile.make(at: file.path, keyPath: key.path)
        let byte = try #require(SystemFiles.content(of: file.path)?[place])
        try change(place, to: byte ^ 0xFF)
        #expect(throws: DeviceFile.Failure.notACollar(path: file.path)) { try DeviceFile(path: file.path) }
    }

    @Test func aShortFileIsNoCollarAndAMissingOneIsNamed() throws {
        #expect(throws: DeviceFile.Failure.system(path: file.path, operation: "open", errorNumber: ENOENT)) { try DeviceFile(path: file.path) }
        let descriptor = unsafe open(file.path, O_WRONLY | O_CREAT, 0o600)
        #expect(SystemFiles.write([1, 2, 3], to: descriptor))
        close(descriptor)
        #expect(throws: DeviceFile.Failure.notACollar(path: file.path)) { try DeviceFile(path: file.path) }
    }

    /// What precedes the flash stays as it is.
    @Test func theFlashBeginsAfterTheDevice() throws {
        let made = try DeviceFile.make(at: file.path, keyPath: key.path)
        do {
            let flash = try FileFlash(path: file.path, start: DeviceFile.flashStart)
            #expect(flash.blockCount == 2048)
            try flash.erase(block: 0)
            try flash.program(([1, 2] as [UInt8]).span, at: 0)
            #expect(throws: FlashError.program(offset: 2048 * 4096)) { try flash.program(([1] as [UInt8]).span, at: 2048 * 4096) }
            #expect(throws: FlashError.program(offset: -1)) { try flash.program(([1] as [UInt8]).span, at: -1) }
        }
        #expect(try DeviceFile(path: file.path).deviceID == made)
        let bytes = try #require(SystemFiles.content(of: file.path))
        #expect(Array(bytes[8192..<8195]) == [1, 2, 0xFF])
        let again = try FileFlash(path: file.path, start: DeviceFile.flashStart)
        #expect(try contents(of: again, at: 0, count: 3) == [1, 2, 0xFF])
    }

    @Test func aFlashWithLessThanSixBlocksOrAPartOfOneIsRefused() throws {
        for size in [8192, 8192 + 5 * 4096, 8192 + 6 * 4096 + 1] {
            let file = TemporaryFile()
            let descriptor = unsafe open(file.path, O_WRONLY | O_CREAT, 0o600)
            #expect(ftruncate(descriptor, off_t(size)) == 0)
            close(descriptor)
            #expect(throws: FileFlash.OpenError.self) { try FileFlash(path: file.path, start: DeviceFile.flashStart) }
        }
    }

    private func change(_ place: Int, to byte: UInt8) throws {
        let descriptor = unsafe open(file.path, O_WRONLY)
        defer { close(descriptor) }
        try #require(unsafe pwrite(descriptor, [byte], 1, off_t(place)) == 1)
    }
}
