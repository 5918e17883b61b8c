/// The commands of MeshCore's KISS modem, and what it answers.
///
/// Source: `examples/kiss_modem` of MeshCore 1.17.1.
enum MeshCoreCommand {
    /// KISS types.
    static let data: UInt8 = 0x00
    static let transmitDelay: UInt8 = 0x01
    static let persistence: UInt8 = 0x02
    static let fullDuplex: UInt8 = 0x05
    static let hardware: UInt8 = 0x06

    /// Commands of the type ``hardware``. The answer to a command that reads something has bit 7 set.
    static let setRadio: UInt8 = 0x09
    static let setPower: UInt8 = 0x0A
    static let getRadio: UInt8 = 0x0B
    static let getAirtime: UInt8 = 0x0F
    static let getVersion: UInt8 = 0x11
    static let getName: UInt8 = 0x16
    static let ping: UInt8 = 0x17
    static let reboot: UInt8 = 0x18
    static let setSignalReport: UInt8 = 0x19
    static let getSignalReport: UInt8 = 0x1A

    static let answerBit: UInt8 = 0x80
    static let ok: UInt8 = 0xF0
    static let error: UInt8 = 0xF1
    static let sent: UInt8 = 0xF8
    static let signal: UInt8 = 0xF9

    /// The error of a modem that is busy or whose output queue is full.
    static let busyError: UInt8 = 7

    /// A frame of the type ``hardware``.
    static func frame(_ command: UInt8, _ data: [UInt8] = []) -> KISSFrame { KISSFrame(hardware, [command] + data) }
}
