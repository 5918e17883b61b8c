import CollarFirmware
import CollarWire

/// A key that begins with a byte.
func key(_ byte: UInt8) -> CollarKey {
    let bytes = (0..<CollarKey.byteCount).map { byte ^ UInt8($0 * 17) }
    return CollarKey(bytes.span)
}

extension CollarBench {
    /// A collar that was made with key(1) and has made three fixes.
    static func keyed(isPoweredOn: Bool = false) throws -> CollarBench {
        var bench = try CollarBench(isPoweredOn: isPoweredOn, factoryKey: key(1))
        try bench.log(0..<3)
        return bench
    }

    /// Gives the collar a key request.
    mutating func requestKey(proving present: CollarKey?, drawing new: CollarKey) throws -> Collar<SharedFlash>.CableReception {
        let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
            try CableFrame.encodeRequest(
                proof: present.map { .ofPresentKey($0, deviceID: deviceID) }, into: &output)
        }
        return try collar.receiveFromCable(frame.span, randomKey: new, now: now)
    }

    /// Gives the collar a key activation.
    mutating func activate(_ new: CollarKey) throws -> Collar<SharedFlash>.CableReception {
        let frame = try [UInt8](capacity: Frame.maximumByteCount) { output in
            try CableFrame.encodeActivation(proof: .ofNewKey(new, deviceID: deviceID), into: &output)
        }
        return try collar.receiveFromCable(frame.span, randomKey: key(0xEE), now: now)
    }

    /// The next frame on the cable; nil if there is none.
    mutating func nextCableFrame() throws -> [UInt8]? {
        var isFrame = false
        let bytes = try [UInt8](capacity: Frame.maximumByteCount) { output in
            isFrame = try collar.nextCableFrame(into: &output)
        }
        return isFrame ? bytes : nil
    }

    /// The clear form of a frame that is sealed like an identity; nil if it does not open with the key.
    func opened(_ frame: [UInt8], with key: CollarKey) throws -> [UInt8]? {
        let header = try FrameHeader(ofAny: frame.span)
        var number: FrameNumber?
        let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
            number = SealedFrame.openIdentity(
                frame.span, header: header, deviceID: deviceID, keys: SealingKeys(key, deviceID: deviceID), into: &output)
        }
        return number == nil ? nil : clear
    }

    /// The key with which the first frame after a boot is sealed: one of the given ones; nil if the collar sends nothing.
    mutating func keyInForce(of keys: [CollarKey]) throws -> CollarKey? {
        guard let frame = try nextFrame() else { return nil }
        for key in keys where try opened(frame, with: key) != nil { return key }
        throw UnknownKey()
    }

    /// A frame of the collar is in clear, or sealed with none of the known keys.
    struct UnknownKey: Error {}

    /// How often the bytes of a key are in the flash.
    func copies(of key: CollarKey) -> Int {
        let wanted = (0..<CollarKey.byteCount).map { key.bytes[$0] }
        let contents = shared.flash.contents
        return (0...(contents.count - wanted.count)).count { contents[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
