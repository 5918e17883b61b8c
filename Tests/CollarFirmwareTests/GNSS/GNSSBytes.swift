import CollarFirmware
import CollarWire

/// A UBX message, made without the code under test: the second sum of the checksum weighs each byte by its distance from the end.
func ubx(_ messageClass: UInt8, _ number: UInt8, _ payload: [UInt8] = []) -> [UInt8] {
    let body = [messageClass, number, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
    let first = body.reduce(0) { $0 + Int($1) }
    let second = body.enumerated().reduce(0) { $0 + Int($1.element) * (body.count - $1.offset) }
    return [0xB5, 0x62] + body + [UInt8(first & 0xFF), UInt8(second & 0xFF)]
}

/// An NMEA sentence with its checksum and its end.
func sentence(_ text: String) -> [UInt8] {
    let checksum = text.utf8.reduce(0 as UInt8) { $0 ^ $1 }
    let digits = String(checksum, radix: 16, uppercase: true)
    return Array("$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
}

/// The fields of a NAV-PVT message. The default is a good fix on 2024-02-29 at 23:59:58.
struct PVTFields {
    var year: UInt16 = 2024
    var month: UInt8 = 2
    var day: UInt8 = 29
    var hour: UInt8 = 23
    var minute: UInt8 = 59
    var second: UInt8 = 58
    var valid: UInt8 = 0b1111_0111
    var nanoseconds: Int32 = 0
    var fixType: UInt8 = 3
    var flags: UInt8 = 1
    var flags3: UInt16 = 0
    var longitude: Int32 = 151_206_990
    var latitude: Int32 = -338_567_844
    var altitude: Int32 = 25_400
    var horizontalAccuracy: UInt32 = 3210
    var verticalAccuracy: UInt32 = 4321
    var speed: Int32 = 1234
    var course: Int32 = 9_012_999
    var isOld = false

    var payload: [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { (0..<value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var all = bytes(0 as UInt32) + bytes(year) + [month, day, hour, minute, second, valid] + bytes(40 as UInt32)
        all += bytes(nanoseconds) + [fixType, flags, 0, 7] + bytes(longitude) + bytes(latitude) + bytes(altitude + 30_000)
        all += bytes(altitude) + bytes(horizontalAccuracy) + bytes(verticalAccuracy) + [UInt8](repeating: 0x11, count: 12)
        all += bytes(speed) + bytes(course) + [UInt8](repeating: 0x22, count: 8) + bytes(150 as UInt16) + bytes(flags3)
        return all + [UInt8](repeating: 0, count: isOld ? 4 : 12)
    }

    var message: [UInt8] { ubx(1, 7, payload) }
}

extension GNSSDialect {
    /// All events of some bytes.
    mutating func events(of bytes: some Sequence<UInt8>) -> [GNSSEvent] {
        var events: [GNSSEvent] = []
        for byte in bytes {
            append(byte)
            while let event = next() { events.append(event) }
        }
        return events
    }
}

/// The only reading of some events; nil if there is none or more than one.
func onlyReading(_ events: [GNSSEvent]) -> GNSSReading? {
    let readings = events.compactMap { if case .reading(let reading) = $0 { reading } else { nil } }
    return readings.count == 1 ? readings[0] : nil
}
