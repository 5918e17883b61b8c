#if !hasFeature(Embedded)
    /// Fixes in their commonest form, straight from the stream, for a host that takes in many of them.
    extension StreamDecoder {
        /// Bytes of an absolute fix with every field known, whole seconds, 1e-5 degree, 16 bits of sequence and no escape.
        static let commonFrameByteCount: UInt8 = 27
        /// The same with the code byte before it and the delimiter behind it.
        private static let commonPieceByteCount = 29

        /// Version, type and critical flags of the header, then what tells the form of the payload.
        private static let shapeMask: UInt64 = 0xFFE0_0000_F880_0000
        private static let shape: UInt64 = 0x2200_0000_0000_0000

        /// What makes a carry of the first invalid code of each field of the third word, from its low end: battery 101,
        /// heading and course 180, the escape of the speed, the top codes of both accuracies, the escape of the altitude.
        private static let firstInvalid: UInt64 =
            27 | 76 &<< 7 | 76 &<< 15 | 1 &<< 23 | 1 &<< 32 | 1 &<< 39 | 1 &<< 46
        /// The bits that these carries reach.
        private static let carryMask: UInt64 =
            1 &<< 7 | 1 &<< 15 | 1 &<< 23 | 1 &<< 32 | 1 &<< 39 | 1 &<< 46 | 1 &<< 60

        /// Reads the fix that stands next, if it is whole, undamaged, of this log, and of the commonest form: absolute,
        /// every field known, whole seconds, 1e-5 degree, 16 bits of sequence, no escape.
        ///
        /// A way round ``next(in:at:)`` and ``Message/decode(_:log:reference:)`` that gives what they give. Its
        /// fields have fixed places, so they come out of the three words that the check is computed of.
        /// - Parameters:
        ///   - index: where to begin; afterwards behind the delimiter that ended the frame.
        ///   - reference: the highest sequence known of this log, against which the sequence is completed.
        ///   - fix: the fix; unchanged where there is none.
        /// - Returns: whether there was one; then ``frame`` holds its frame. Else nothing is read, and
        ///   ``next(in:at:)`` tells what stands there.
        public mutating func nextFix(
            in bytes: Span<UInt8>, at index: inout Int, log: LogIdentity, reference: UInt32, into fix: inout Fix
        ) -> Bool {
            guard isBetweenFrames else { return false }
            var rest = bytes.extracting(index..<bytes.count)
            guard rest.count > StreamDecoder.commonPieceByteCount else { return false }
            if rest[0] == StreamEncoder.delimiter { rest = rest.extracting(1..<rest.count) }
            guard unstuffCommonFrame(of: rest.extracting(0..<StreamDecoder.commonPieceByteCount)) else { return false }

            let first = stuffed.span.bigEndianWord(at: 1)
            guard first & StreamDecoder.shapeMask == StreamDecoder.shape else { return false }
            let second = stuffed.span.bigEndianWord(at: 9)
            let third = stuffed.span.bigEndianWord(at: 17)
            let lowSequence = bits(first, 15, 8) &<< 8 | bits(first, 32, 8)
            let distance = Int16(truncatingIfNeeded: lowSequence &- reference)
            let sequence = Int64(reference) &+ Int64(distance)
            var check = log.commonFrameCheck
            check.update(words: first, second, third)
            check.update(upperBitsOf: UInt32(truncatingIfNeeded: sequence))
            guard check.checksum == stuffed.span.littleEndianHalfWord(at: 25).byteSwapped &>> 8 else { return false }

            let latitudeCode = bits(second, 22, 25)
            let longitudeCode = UInt32(truncatingIfNeeded: second &<< 4 | third &>> 60) & 0x3FF_FFFF
            // A field that is too large carries into its neighbour; the lowest such field is found whatever stands above.
            let carries = (third &+ StreamDecoder.firstInvalid) ^ third ^ StreamDecoder.firstInvalid
            guard carries & StreamDecoder.carryMask == 0, sequence >= 0, sequence <= Int64(Fix.maximumSequence),
                latitudeCode <= 18_000_000, longitudeCode <= 36_000_000,
                let source = FixSource(rawValue: UInt8(bits(first, 24, 2)))
            else { return false }
            let seconds = UInt32(truncatingIfNeeded: first &<< 17 | second &>> 47)
            fix = Fix(
                sequence: UInt32(truncatingIfNeeded: sequence), unixMilliseconds: Int64(seconds) &* 1000,
                source: source, positionStep: .e5, latitudeSteps: Int32(latitudeCode) &- 9_000_000,
                longitudeSteps: Int32(longitudeCode) &- 18_000_000,
                altitudeStep: bits(first, 26, 1) == 0 ? .meter : .decimeter,
                altitudeSteps: Int32(bits(third, 46, 14)) &+ AbsoluteFix.lowestAltitude,
                horizontalAccuracy: AccuracyCode(checked: UInt8(bits(third, 39, 7))),
                verticalAccuracy: AccuracyCode(checked: UInt8(bits(third, 32, 7))),
                speedDecimetersPerSecond: bits(third, 23, 9),
                course: AngleCode(checked: UInt8(bits(third, 15, 8))),
                heading: AngleCode(checked: UInt8(bits(third, 7, 8))), batteryPercent: UInt8(bits(third, 0, 7)))
            index = bytes.count &- rest.count &+ StreamDecoder.commonPieceByteCount
            announceFrame(stuffedByteCount: StreamDecoder.commonPieceByteCount &- 1)
            return true
        }

        /// Keeps a frame of ``commonFrameByteCount`` bytes without its stuffing.
        /// - Parameter piece: the code byte, the frame, the delimiter.
        /// - Returns: false where a delimiter stands within, none at the end, or a block does not fit.
        @inline(__always)
        private mutating func unstuffCommonFrame(of piece: Span<UInt8>) -> Bool {
            let first = piece.littleEndianWord(at: 1)
            let second = piece.littleEndianWord(at: 9)
            let third = piece.littleEndianWord(at: 17)
            let last = piece.littleEndianHalfWord(at: 25)
            guard first.zeroByteMask | second.zeroByteMask | third.zeroByteMask == 0,
                last.zeroByteMask == 0x8000_0000
            else { return false }
            keep(first, at: 1)
            keep(second, at: 9)
            keep(third, at: 17)
            keep(last, at: 25)
            // A code byte of 0 would be a second delimiter.
            var codeIndex = UInt32(piece[0])
            guard codeIndex != 0 else { return false }
            while codeIndex <= StreamDecoder.commonFrameByteCount {
                let code = UInt32(stuffed[Int(codeIndex)])
                stuffed[Int(codeIndex)] = 0
                codeIndex &+= code
            }
            return codeIndex == UInt32(StreamDecoder.commonFrameByteCount) + 1
        }
    }

    /// The `count` bits of `word` above its lowest `shift` bits.
    @inline(__always)
    private func bits(_ word: UInt64, _ shift: UInt64, _ count: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: word &>> shift & (1 &<< count &- 1))
    }
#endif
