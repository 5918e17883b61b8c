import CollarWire
import Foundation
import Testing

/// Sealing hides a frame, and opening gives exactly that frame back.
@Suite struct SealedFrameTests {
    /// The clear frames that can be sealed, each with the value that its tag covers in addition to it.
    private static func frames() throws -> [(clear: [UInt8], peer: SealingPeer)] {
        var frames: [(clear: [UInt8], peer: SealingPeer)] = []
        for sample in try Sample.all() {
            let type = try FrameHeader(sample.bytes.span).type
            guard let type, type != .identityRequest, ![.radioIdentity, .modemSettings, .signalReport].contains(type),
                type.isFromCollar || sample.bytes[1] == 0
            else {
                continue
            }
            var peer = SealingPeer()
            if case .fix(let fix) = sample.message { peer.binding = .sequence(fix.sequence) }
            frames.append((sample.bytes, peer))
        }
        var fix = Fix.sample
        fix.sequence += 127
        fix.latitudeSteps += 12
        let live = try [UInt8](capacity: Frame.maximumByteCount) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
            try LiveFix.encode(
                fix, anchor: .sample, address: 9, flags: FrameFlags(poll: .first), log: .sample, into: &output)
        }
        frames.append((live, SealingPeer(binding: .anchor(.sample))))
        return frames
    }

    @Test func openingUndoesSealing() throws {
        let frames = try SealedFrameTests.frames()
        #expect(frames.count >= 15)
        for (clear, peer) in frames {
            for isLong in [false, true] {
                var peer = peer
                peer.isLong = isLong
                let sealed = peer.sealed(clear)
                #expect(peer.opened(sealed) == clear)
                #expect(sealed[1] & 0x80 == 0x80)
                #expect(throws: DecodeError.sealed) { try decoded(sealed) }
            }
        }
    }

    /// The bytes that sealing costs (PROTOCOL.md, section 22).
    @Test func sealingAddsTheBytesOfTheProtocol() throws {
        for (clear, peer) in try SealedFrameTests.frames() {
            let type = try #require(try FrameHeader(clear.span).type)
            let expected =
                switch type {
                case .identity, .probe: 0
                case .absoluteFix, .liveFix, .batch: 4
                default: type.isFromCollar ? 3 : 8
                }
            #expect(peer.sealed(clear).count == clear.count + expected)
            var long = peer
            long.isLong = true
            let further = type.isFromCollar && type != .identity ? 3 : 0
            #expect(long.sealed(clear).count == clear.count + expected + further)
        }
    }

    @Test func aFrameWithAFlippedBitDoesNotOpen() throws {
        for (clear, peer) in try SealedFrameTests.frames() {
            let sealed = peer.sealed(clear)
            for bit in 0..<8 * sealed.count {
                var changed = sealed
                changed[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                #expect(peer.opened(changed) == nil, "bit \(bit) of \(sealed)")
            }
            for count in 0..<sealed.count { #expect(peer.opened(Array(sealed.prefix(count))) == nil) }
            #expect(peer.opened(sealed + [0]) == nil)
        }
    }

    @Test func aFrameDoesNotOpenWithOtherKeysOrNumbers() throws {
        for (clear, peer) in try SealedFrameTests.frames() {
            let sealed = peer.sealed(clear)
            var others = [peer, peer, peer, peer, peer]
            others[0].key[15] ^= 1
            others[1].number.bootCount += 1
            others[2].number.counter += 256
            others[3].log = LogIdentity(of: DeviceID(rawValue: peer.log.deviceID.rawValue ^ 1), logID: peer.log.logID.rawValue)
            others[4].log = LogIdentity(of: peer.log.deviceID, logID: peer.log.logID.rawValue ^ 1)
            // An identity names its log.
            if clear[0] & 0x1F == MessageType.identity.rawValue { others.removeLast() }
            for other in others { #expect(other.opened(sealed) == nil) }
        }
    }

    @Test func theSequenceAndTheAnchorBelongToAFrame() throws {
        for (clear, peer) in try SealedFrameTests.frames() {
            let sealed = peer.sealed(clear)
            var other = peer
            switch peer.binding {
            case .none: continue
            case .sequence(let sequence):
                other.binding = .sequence(sequence + 65_536)
                #expect(other.opened(sealed) == nil)
                other.binding = .sequence(sequence ^ 0xFFFF)
                #expect(other.opened(sealed) == clear)
            case .anchor(var anchor):
                anchor.batteryPercent = 3
                other.binding = .anchor(anchor)
                #expect(other.opened(sealed) == nil)
            }
        }
    }

    /// Two answers to one poll have different salts, so that no nonce is used twice.
    @Test func otherContentHasAnotherSalt() throws {
        let log = LogIdentity.sample
        var salts = Set<[UInt8]>()
        for firstMissing in 0..<100 as Range<UInt32> {
            let answer = Acknowledgement(receiverID: 7, poll: .first, firstMissing: firstMissing)
            let clear = try [UInt8](capacity: 51) { (output: inout OutputSpan<UInt8>) throws(EncodeError) in
                try answer.encode(address: 9, log: log, into: &output)
            }
            var peer = SealingPeer(receiverID: 7)
            peer.poll = .first
            let sealed = peer.sealed(clear)
            #expect(peer.sealed(clear) == sealed)
            #expect(peer.opened(sealed) == clear)
            salts.insert(Array(sealed[8..<11]))
        }
        #expect(salts.count == 100)
    }
}

/// The sealed vectors, which the reference in Python made: what it sealed opens here, and the same bytes are sealed here.
@Suite struct SealedVectorTests {
    struct Contents: Decodable, Sendable {
        var meaning: String
        var bare: String
        var serial: String
        var key: String
        var deviceID: String
        var logID: UInt32
        var bootCount: UInt32
        var counter: UInt32
        var clear: String?
        var sequence: UInt32?
        var anchor: [String: FieldValue]?
        var receiverID: UInt32?
        var poll: UInt8?
        var error: String?

        enum CodingKeys: String, CodingKey {
            case meaning, bare, serial, key, counter, clear, sequence, anchor, poll, error
            case deviceID = "device_id"
            case logID = "log_id"
            case bootCount = "boot_count"
            case receiverID = "receiver_id"
        }

        func peer() throws -> SealingPeer {
            let frame = try [UInt8](hexadecimal: bare)
            let header = try FrameHeader(ofAny: frame.span)
            var peer = SealingPeer()
            peer.log = LogIdentity(of: DeviceID(rawValue: try #require(UInt64(deviceID, radix: 16))), logID: logID)
            peer.number = FrameNumber(bootCount: bootCount, counter: counter)
            peer.key = try [UInt8](hexadecimal: key)
            peer.receiverID = receiverID ?? 0
            peer.poll = poll.flatMap { PollNumber(rawValue: $0) }
            peer.index = header.flags.rawValue & 7
            peer.isLong = header.flags.rawValue & 0x10 != 0
            if let anchor { peer.binding = .anchor(try Fix(vectorFields: anchor)) }
            if let sequence { peer.binding = .sequence(sequence) }
            return peer
        }
    }

    private static func all() throws -> [Contents] {
        let folder = try Repository.root().appendingPathComponent("Protocol/vectors/sealed")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.sorted()
            .map { try JSONDecoder().decode(Contents.self, from: Data(contentsOf: folder.appendingPathComponent($0))) }
    }

    @Test func sealedVectorsOpenAndAreSealedTheSame() throws {
        let vectors = try SealedVectorTests.all()
        var types = Set<UInt8>()
        for vector in vectors {
            guard let clear = try vector.clear.map([UInt8].init(hexadecimal:)) else { continue }
            let (bare, peer) = (try [UInt8](hexadecimal: vector.bare), try vector.peer())
            #expect(peer.opened(bare) == clear, "\(vector.meaning)")
            #expect(peer.sealed(clear) == bare, "\(vector.meaning)")
            #expect(try serialForm(of: bare) == [UInt8](hexadecimal: vector.serial))
            types.insert(bare[0] & 0x1F)
        }
        #expect(types == [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 18, 19, 20, 29])
    }

    @Test func forgedVectorsDoNotOpen() throws {
        let forged = try SealedVectorTests.all().filter { $0.error != nil }
        #expect(forged.count >= 20)
        for vector in forged {
            #expect(vector.error == "not_opened")
            #expect(try vector.peer().opened([UInt8](hexadecimal: vector.bare)) == nil, "\(vector.meaning)")
        }
    }
}
