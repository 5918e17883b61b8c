import CollarWire
import Foundation
import Testing

/// The exchanges of keys that the reference in Python made: the same bytes are written here, and what must have no effect has none.
@Suite struct ExchangeVectorTests {
    struct Exchange: Decodable, Sendable {
        var meaning: String
        var key: String?
        var deviceID: String
        var logID: UInt32
        var bootCount: UInt32
        var address: UInt8
        var newKey: String
        var counter: UInt32?
        var request: String
        var offer: String
        var activation: String
        var error: String?

        enum CodingKeys: String, CodingKey {
            case meaning, key, address, counter, request, offer, activation, error
            case deviceID = "device_id"
            case logID = "log_id"
            case bootCount = "boot_count"
            case newKey = "new_key"
        }

        func device() throws -> DeviceID { DeviceID(rawValue: try #require(UInt64(deviceID, radix: 16))) }

        func presentKey() throws -> CollarKey? { try key.map(Exchange.key) }

        func offeredKey() throws -> CollarKey { try Exchange.key(newKey) }

        private static func key(_ digits: String) throws -> CollarKey {
            let bytes = try [UInt8](hexadecimal: digits)
            return CollarKey(bytes.span)
        }

        func expectedOffer() throws -> KeyOffer {
            KeyOffer(log: LogIdentity(of: try device(), logID: logID), bootCount: bootCount, key: try offeredKey())
        }

        /// The offer that a host accepts after it has sent the request; nil if it rejects the frame.
        func accepted(_ frame: [UInt8]) throws -> KeyOffer? {
            guard let key = try presentKey() else { return try? KeyOffer(frame.span) }
            let header = try FrameHeader(ofAny: frame.span)
            guard header.flags.isSealed else { return nil }
            let keys = SealingKeys(key, deviceID: try device())
            let id = try device()
            var number: FrameNumber?
            let clear = [UInt8](capacity: Frame.maximumByteCount) { output in
                number = SealedFrame.openIdentity(frame.span, header: header, deviceID: id, keys: keys, into: &output)
            }
            guard let number else { return nil }
            if error == nil { #expect(number == FrameNumber(bootCount: bootCount, counter: try #require(counter))) }
            return try? KeyOffer(clear.span)
        }
    }

    private static func all() throws -> [Exchange] {
        let folder = try Repository.root().appendingPathComponent("Protocol/vectors/exchange")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.sorted()
            .map { try JSONDecoder().decode(Exchange.self, from: Data(contentsOf: folder.appendingPathComponent($0))) }
    }

    @Test func exchangesAreWrittenAndReadTheSame() throws {
        let good = try ExchangeVectorTests.all().filter { $0.error == nil }
        #expect(good.count >= 20)
        for vector in good {
            let (device, present, new) = (try vector.device(), try vector.presentKey(), try vector.offeredKey())
            let request = try [UInt8](capacity: 51) { output in
                try CableFrame.encodeRequest(
                    proof: present.map { KeyProof.ofPresentKey($0, deviceID: device) }, into: &output)
            }
            #expect(try request == [UInt8](hexadecimal: vector.request), "\(vector.meaning)")
            let proof = try CableFrame.decodeRequest(request.span)
            #expect((proof == nil) == (present == nil))
            if let proof, let present { #expect(proof.isEqual(to: .ofPresentKey(present, deviceID: device))) }
            let activation = try [UInt8](capacity: 51) { output in
                try CableFrame.encodeActivation(proof: .ofNewKey(new, deviceID: device), into: &output)
            }
            #expect(try activation == [UInt8](hexadecimal: vector.activation), "\(vector.meaning)")
            #expect(try CableFrame.decodeActivation(activation.span).isEqual(to: .ofNewKey(new, deviceID: device)))
            let offer = try vector.expectedOffer()
            let frame = try [UInt8](capacity: 64) { output in
                try offer.encode(address: vector.address, into: &output)
                guard let present, let counter = vector.counter else { return }
                SealedFrame.seal(
                    &output, number: FrameNumber(bootCount: vector.bootCount, counter: counter), isLong: counter > 9,
                    binding: .none, log: offer.log, keys: SealingKeys(present, deviceID: device))
            }
            #expect(try frame == [UInt8](hexadecimal: vector.offer), "\(vector.meaning)")
            #expect(try vector.accepted(frame) == offer, "\(vector.meaning)")
        }
    }

    @Test func whatIsWrongHasNoEffect() throws {
        var counts: [String: Int] = [:]
        for vector in try ExchangeVectorTests.all() {
            guard let wrong = vector.error else { continue }
            counts[wrong, default: 0] += 1
            let (device, new) = (try vector.device(), try vector.offeredKey())
            switch wrong {
            case "request":
                let frame = try [UInt8](hexadecimal: vector.request)
                let proof: KeyProof?
                do throws(DecodeError) { proof = try CableFrame.decodeRequest(frame.span) } catch { continue }
                let present = try #require(try vector.presentKey(), "\(vector.meaning)")
                #expect(try #require(proof).isEqual(to: .ofPresentKey(present, deviceID: device)) == false, "\(vector.meaning)")
            case "offer":
                #expect(try vector.accepted([UInt8](hexadecimal: vector.offer)) == nil, "\(vector.meaning)")
            default:
                let frame = try [UInt8](hexadecimal: vector.activation)
                let proof: KeyProof
                do throws(DecodeError) { proof = try CableFrame.decodeActivation(frame.span) } catch { continue }
                #expect(!proof.isEqual(to: .ofNewKey(new, deviceID: device)), "\(vector.meaning)")
            }
        }
        #expect(counts.count == 3 && counts.values.allSatisfy { $0 >= 10 })
    }
}
