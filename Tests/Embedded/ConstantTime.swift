import CollarWire

/// Starts a timer that counts down once in 40 instructions.
@_silgen_name("start_timer")
private func startTimer()

/// The lower 24 bits of the timer.
@_silgen_name("timer_value")
private func timerValue() -> UInt32

/// Checks that sealing and opening take the same number of instructions whatever the key, the plaintext and the tag are.
///
/// The emulator counts one unit of time for each instruction. A Cortex-M4 or Cortex-M0 takes the same time for the same
/// instructions, except for divisions, of which sealing has none with a secret operand.
struct ConstantTimeChecks {
    /// The number of comparisons so far.
    private(set) var count: UInt32 = 0
    private var state: UInt32 = 0x9E37_79B9
    private let log = LogIdentity(deviceID: ConstantTimeChecks.deviceID, logID: 0x12_3456)
    private let number = FrameNumber(bootCount: 7, counter: 300)
    private static var deviceID: DeviceID { 0x0123_4567_89AB_CDEF }

    init() {
        startTimer()
    }

    /// - Returns: whether deriving the keys of a collar takes the same time for every key.
    mutating func isDerivingConstant() -> Bool {
        isConstant(variants: 16) { checks, _ in
            let key = checks.randomKey()
            return checks.ticks { keep(SealingKeys(key, deviceID: ConstantTimeChecks.deviceID)) }
        }
    }

    /// - Returns: whether sealing takes the same time for every key and plaintext of this type of frame.
    mutating func isSealingConstant(typeCode: UInt8, byteCount: Int) -> Bool {
        isConstant(variants: 16) { checks, _ in
            let keys = SealingKeys(checks.randomKey(), deviceID: ConstantTimeChecks.deviceID)
            let payload = checks.randomBytes()
            return checks.ticks {
                var frame = OutputSpan(buffer: room(Frame.maximumByteCount), initializedCount: 0)
                FrameBytes(typeCode: typeCode, payload: payload).write(byteCount, into: &frame)
                SealedFrame.seal(&frame, number: checks.number, isLong: false, binding: .none, log: checks.log, keys: keys)
            }
        }
    }

    /// - Returns: whether opening a frame whose tag is wrong takes the same time for every bit of the tag that is wrong, and for
    ///   every key and ciphertext.
    mutating func isRefusingConstant() -> Bool {
        isConstant(variants: 80) { checks, variant in
            let keys = SealingKeys(checks.randomKey(), deviceID: ConstantTimeChecks.deviceID)
            var frame = OutputSpan(buffer: room(Frame.maximumByteCount), initializedCount: 0)
            FrameBytes(typeCode: MessageType.settingsRequest.rawValue, payload: checks.randomBytes()).write(9, into: &frame)
            SealedHostFrame.seal(
                &frame, poll: checks.number, index: 1, receiverID: 9, log: checks.log, keys: keys)
            var sealed = InlineArray<17, UInt8>(repeating: 0)
            for index in 0..<17 { sealed[index] = frame[index] }
            // The tag is the last 8 bytes. Variants from 64 on change a byte of the ciphertext.
            if variant < 64 { sealed[9 &+ variant / 8] ^= 1 &<< UInt8(variant % 8) } else { sealed[7 &+ variant % 2] ^= 0x40 }
            guard let header = try? FrameHeader(ofAny: sealed.span) else { return 0 }
            var isOpen = false
            let taken = checks.ticks {
                var opened = OutputSpan(buffer: room(Frame.maximumByteCount), initializedCount: 0)
                if SealedHostFrame.open(
                    sealed.span, header: header, type: .settingsRequest, poll: checks.number, pollNumber: nil, receiverID: 9,
                    log: checks.log, keys: keys, into: &opened)
                {
                    isOpen = true
                }
            }
            // A frame that opens ends the comparison with a difference.
            return isOpen ? 0 : taken
        }
    }

    /// Measures variants of an operation.
    /// - Returns: whether all take the same number of instructions.
    private mutating func isConstant(variants: Int, _ measure: (inout ConstantTimeChecks, Int) -> UInt32) -> Bool {
        var first: UInt32 = 0
        var isConstant = true
        for variant in 0..<variants {
            let taken = measure(&self, variant)
            // The first variant does not count: the emulator counts some instructions twice when it runs code for the first
            // time.
            guard variant > 0 else { continue }
            if variant == 1 { first = taken }
            count &+= 1
            // One instruction more makes five ticks more. Fewer ticks come from the emulator's reading of the timer.
            if taken == 0 || taken > first &+ 2 || first > taken &+ 2 { isConstant = false }
        }
        return isConstant
    }

    /// The ticks that 200 repetitions take: five for each instruction.
    private func ticks(_ operation: () -> Void) -> UInt32 {
        let start = timerValue()
        for _ in 0..<200 { operation() }
        return (start &- timerValue()) & 0xFF_FFFF
    }

    private mutating func randomKey() -> CollarKey { CollarKey(randomBytes().span.extracting(0..<CollarKey.byteCount)) }

    /// Bytes of a xorshift generator.
    private mutating func randomBytes() -> InlineArray<48, UInt8> {
        var bytes = InlineArray<48, UInt8>(repeating: 0)
        for index in 0..<48 {
            state ^= state &<< 13
            state ^= state &>> 17
            state ^= state &<< 5
            bytes[index] = UInt8(truncatingIfNeeded: state &>> 11)
        }
        return bytes
    }
}

/// A clear frame with any bytes as payload and CRC, which sealing does not look at.
private struct FrameBytes {
    let typeCode: UInt8
    let payload: InlineArray<48, UInt8>

    func write(_ byteCount: Int, into frame: inout OutputSpan<UInt8>) {
        frame.append(0x20 | typeCode)
        frame.append(0)
        frame.append(1)
        frame.append(0)
        for index in 0..<(byteCount - 4) { frame.append(payload[index]) }
    }
}

/// Uses a value, so that the optimizer does not remove its computation.
@inline(never)
private func keep(_ keys: SealingKeys) { withExtendedLifetime(keys) {} }
