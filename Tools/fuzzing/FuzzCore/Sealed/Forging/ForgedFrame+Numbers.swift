import CollarWire

/// Forgeries that leave the bytes alone: a receiver holds other values against the frame than it was sealed with.
extension ForgedFrame {
    /// Repeats the frame under another number.
    mutating func changeNumber(_ random: inout SplitMix) {
        let own = presentation.number
        switch random.below(6) {
        case 0: presentation.number.counter &+= random.oneIn(2) ? 1 : .max
        // The low byte stays.
        case 1: presentation.number.counter &+= 256 &* UInt32(1 + random.below(0xFF_FFFF))
        case 2: presentation.number.counter = random.anyNumber()
        case 3: presentation.number.bootCount &+= random.oneIn(2) ? 1 : .max
        case 4: presentation.number.bootCount = random.anyNumber()
        default: presentation.number = FrameNumber(bootCount: own.counter, counter: own.bootCount)
        }
    }

    /// Opens the frame with a key in which one bit differs, or with that of another collar.
    mutating func changeKey(_ random: inout SplitMix) {
        if random.oneIn(2) {
            presentation.setKeys(collar.keysOfOtherKey, deviceID: collar.log.deviceID)
        } else {
            presentation.setKeys(other.presentation.keys, deviceID: other.presentation.log.deviceID)
        }
    }

    /// Repeats the frame in another log of the same collar.
    mutating func changeLog(_ random: inout SplitMix) {
        let own = presentation.log
        let logID = random.oneIn(2) ? own.logID.rawValue ^ 1 &<< UInt32(random.below(26)) : random.anyNumber()
        presentation.log = LogIdentity(deviceID: own.deviceID, logID: LogID(lowBitsOf: logID))
    }

    /// Gives the frame of a host to the collar of another receiver, or names another receiver in it.
    mutating func changeReceiver(_ random: inout SplitMix) {
        if SealedTypes.hasReceiverID(sample.type), bytes.count >= 8 {
            bytes[4 + random.below(4)] ^= random.nonzeroByte()
        } else {
            presentation.receiverID ^= random.oneIn(2) ? 1 &<< UInt32(random.below(32)) : random.anyNumber()
        }
    }

    /// Completes the sequence of a fix with another upper half.
    mutating func changeSequenceHalf(_ random: inout SplitMix) {
        guard case .sequence(let own) = presentation.binding else { return }
        let difference = random.oneIn(2) ? 0x1_0000 : random.anyNumber() & 0xFFFF_0000
        presentation.binding = .sequence(random.oneIn(2) ? own &+ difference : own &- difference)
    }

    /// Holds another anchor against a live fix.
    mutating func changeAnchor(_ random: inout SplitMix) {
        guard case .anchor(var anchor) = presentation.binding else { return }
        switch random.below(10) {
        case 0: anchor.sequence ^= 1
        // The low byte stays, which is in the frame.
        case 1: anchor.sequence ^= 256 &* UInt32(1 + random.below(0xFF_FFFF))
        case 2: anchor.unixMilliseconds ^= 1
        case 3: anchor.latitudeSteps = anchor.latitudeSteps > 0 ? anchor.latitudeSteps - 1 : anchor.latitudeSteps + 1
        case 4: anchor.longitudeSteps = -anchor.longitudeSteps
        case 5: anchor.altitudeSteps = anchor.altitudeSteps == nil ? 0 : nil
        case 6: anchor.speedDecimetersPerSecond = anchor.speedDecimetersPerSecond.map { $0 ^ 1 } ?? 0
        case 7: anchor.course = AngleCode(steps: UInt8(random.below(180)))
        case 8: anchor.batteryPercent = UInt8(random.below(101))
        default:
            let sequence = anchor.sequence
            anchor = random.fix()
            anchor.sequence = sequence
        }
        presentation.binding = .anchor(anchor)
    }
}
