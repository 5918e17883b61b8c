#if !hasFeature(Embedded)
    /// The frame is not the commonest absolute fix, or something is wrong, which the general decoder tells apart.
    @usableFromInline
    struct NotCommonAbsoluteFix: Error {}

    private let commonFrameByteCount = 27
    /// Version, type and critical flags of the header, then what tells the form of the payload.
    private let commonShapeMask: UInt64 = 0xFFE0_0000_F880_0000
    private let commonShape: UInt64 = 0x2200_0000_0000_0000

    /// Decodes the commonest absolute fix: every field known, whole seconds, 1e-5 degree, 16 bits of sequence, no escape.
    /// Its fields have fixed places, so a host takes them out of the three words that it computes the check of.
    /// A collar spares itself the second way.
    ///
    /// Not a member of a type: the optimizer puts a copy of the fix between such a function and its caller.
    @usableFromInline
    func decodeCommonAbsoluteFix(
        _ frame: Span<UInt8>, boundCheck: CRC24, reference: UInt32
    ) throws(NotCommonAbsoluteFix) -> Fix {
        guard frame.count == commonFrameByteCount else { throw NotCommonAbsoluteFix() }
        let first = frame.bigEndianWord(at: 0)
        guard first & commonShapeMask == commonShape else { throw NotCommonAbsoluteFix() }
        let second = frame.bigEndianWord(at: 8)
        let third = frame.bigEndianWord(at: 16)
        var check = boundCheck
        check.update(UInt8(commonFrameByteCount))
        check.update(word: first)
        check.update(word: second)
        check.update(word: third)
        guard UInt64(check.checksum) == frame.bigEndianWord(at: 19) & 0xFF_FFFF else { throw NotCommonAbsoluteFix() }

        let lowSequence = bits(first, 15, 8) &<< 8 | bits(first, 32, 8)
        let distance = Int16(truncatingIfNeeded: lowSequence &- reference)
        let sequence = Int64(reference) &+ Int64(distance)
        let seconds = UInt32(truncatingIfNeeded: first &<< 17 | second &>> 47)
        let latitudeCode = bits(second, 22, 25)
        let longitudeCode = UInt32(truncatingIfNeeded: second &<< 4 | third &>> 60) & 0x3FF_FFFF
        let altitudeCode = bits(third, 46, 14)
        let speed = bits(third, 23, 9)
        let battery = bits(third, 0, 7)
        guard sequence >= 0, sequence <= Int64(Fix.maximumSequence), latitudeCode <= 18_000_000,
            longitudeCode <= 36_000_000, altitudeCode < AltitudeCode.escape, speed < SpeedCode.escape,
            let source = FixSource(rawValue: UInt8(bits(first, 24, 2))),
            let horizontalAccuracy = AccuracyCode(rawValue: UInt8(bits(third, 39, 7))),
            let verticalAccuracy = AccuracyCode(rawValue: UInt8(bits(third, 32, 7))),
            let course = AngleCode(steps: UInt8(bits(third, 15, 8))),
            let heading = AngleCode(steps: UInt8(bits(third, 7, 8))), battery <= 100
        else { throw NotCommonAbsoluteFix() }
        return Fix(
            sequence: UInt32(truncatingIfNeeded: sequence), unixMilliseconds: Int64(seconds) &* 1000, source: source,
            positionStep: .e5, latitudeSteps: Int32(latitudeCode) &- 9_000_000,
            longitudeSteps: Int32(longitudeCode) &- 18_000_000,
            altitudeStep: bits(first, 26, 1) == 0 ? .meter : .decimeter,
            altitudeSteps: Int32(altitudeCode) &+ AltitudeCode.lowest, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, speedDecimetersPerSecond: speed, course: course, heading: heading,
            batteryPercent: UInt8(battery))
    }

    /// The `count` bits of `word` above its lowest `shift` bits.
    @inline(__always)
    private func bits(_ word: UInt64, _ shift: UInt64, _ count: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: word &>> shift & (1 &<< count &- 1))
    }
#endif
