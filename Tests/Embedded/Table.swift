import CollarWire

@_silgen_name("table_start")
private func tableStart() -> UnsafePointer<UInt8>

/// Bytes of the table. They are part of the image, so they stay valid.
typealias TableBytes = UnsafeBufferPointer<UInt8>

/// The table of vectors, read from front to back. make_table.py describes its contents.
struct Table {
    private var next: UnsafePointer<UInt8>

    init() { next = tableStart() }

    mutating func byte() -> UInt8 {
        defer { next += 1 }
        return next.pointee
    }

    mutating func word() -> UInt32 {
        var value: UInt32 = 0
        for index: UInt32 in 0..<4 { value |= UInt32(byte()) &<< (8 &* index) }
        return value
    }

    mutating func wideWord() -> UInt64 {
        let low = word()
        return UInt64(widening: word()) &<< 32 | UInt64(widening: low)
    }

    /// A number; nil if it is unknown.
    mutating func number() -> Int64? {
        let value = Int64(bitPattern: wideWord())
        return value == .min ? nil : value
    }

    mutating func bytes() -> TableBytes {
        let count = Int(truncatingIfNeeded: word())
        defer { next += count }
        return TableBytes(start: next, count: count)
    }

    mutating func skipNumbers(_ count: UInt32) { next += 8 &* Int(truncatingIfNeeded: count) }

    /// The 14 fields of a fix, in the alphabetical order of their names.
    mutating func fix() -> Fix {
        var fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: 0, longitudeSteps: 0)
        fix.altitudeSteps = number().map { Int32(truncatingIfNeeded: $0) }
        fix.altitudeStep = smallNumber().flatMap(AltitudeStep.init(rawValue:)) ?? .meter
        fix.batteryPercent = smallNumber()
        fix.course = smallNumber().flatMap(AngleCode.init(steps:))
        fix.heading = smallNumber().flatMap(AngleCode.init(steps:))
        fix.horizontalAccuracy = smallNumber().flatMap(AccuracyCode.init(rawValue:))
        fix.latitudeSteps = Int32(truncatingIfNeeded: number() ?? 0)
        fix.longitudeSteps = Int32(truncatingIfNeeded: number() ?? 0)
        fix.positionStep = smallNumber().flatMap(PositionStep.init(rawValue:)) ?? .e5
        fix.sequence = UInt32(truncatingIfNeeded: number() ?? 0)
        fix.source = smallNumber().flatMap(FixSource.init(rawValue:)) ?? .collar
        fix.speedDecimetersPerSecond = number().map { UInt32(truncatingIfNeeded: $0) }
        fix.unixMilliseconds = number() ?? 0
        fix.verticalAccuracy = smallNumber().flatMap(AccuracyCode.init(rawValue:))
        return fix
    }

    private mutating func smallNumber() -> UInt8? { number().map { UInt8(truncatingIfNeeded: $0) } }
}

/// A vector of the table, valid or invalid, with the log, the reference and the anchor that its decoder needs.
struct Vector {
    let name: TableBytes
    let isCanonical: Bool
    /// Whether the frame is a fix with the wide sequence.
    let isWide: Bool
    /// The log to which the CRC is bound; nil for a frame that is not bound.
    let log: LogIdentity?
    let reference: UInt32
    let anchor: Fix?
    let serial: TableBytes
    /// Empty if the vector has only a serial form.
    let bare: TableBytes

    init(_ table: inout Table) {
        name = table.bytes()
        let flags = table.byte()
        isCanonical = flags & 1 != 0
        isWide = flags & 4 != 0
        let deviceID = DeviceID(rawValue: table.wideWord())
        let logID = table.word()
        log = flags & 2 != 0 ? LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: logID)) : nil
        reference = table.word()
        anchor = flags & 8 != 0 ? table.fix() : nil
        serial = table.bytes()
        bare = table.bytes()
    }
}
