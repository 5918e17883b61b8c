import CollarWire
import Foundation
import Testing

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
            peer.log = LogIdentity(of: try #require(UInt64(deviceID, radix: 16)), logID: logID)
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
        #expect(types == [1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 18, 19, 20, 29])
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
