import CollarARQ
import CollarFirmware
import CollarWire
import Testing

/// Pairing with the first receiver that acknowledges, and frames that a collar ignores.
@Suite struct CollarPairingTests {
    @Test func theFirstReceiverIsAdoptedAndOthersAreIgnored() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(2, poll: 1, receiver: 77) == .acknowledgement(.answer))
        #expect(bench.collar.pairedReceiverID == 77)
        #expect(try bench.acknowledge(5, poll: nil, receiver: 78) == .otherReceiver(78))
        #expect(bench.collar.pairedReceiverID == 77)
        #expect(bench.collar.firstUndelivered == 2)
        bench = try bench.rebooted()
        #expect(bench.collar.identity.pairedReceiverID == 77)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(5, poll: 1, receiver: 78) == .otherReceiver(78))
        #expect(try bench.acknowledge(5, poll: 1, receiver: 77) == .acknowledgement(.answer))
    }

    @Test func aReceiverThatClaimsWhatWasNeverLoggedIsNotAdopted() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        #expect(try bench.acknowledge(6, poll: 1) == .acknowledgement(.impossible))
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(bench.collar.firstUndelivered == 0)
        #expect(try bench.acknowledge(5, poll: 1, receiver: 3) == .acknowledgement(.answer))
        #expect(bench.collar.pairedReceiverID == 3)
    }

    @Test func framesForOthersAndDamagedOnesChangeNothing() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        let answer = Acknowledgement(receiverID: 77, poll: .first, firstMissing: 5)
        let log = bench.collar.log
        let stranger = try #require(LogIdentity(deviceID: deviceID, logID: logID ^ 1))
        let frame = { (address: UInt8, log: LogIdentity) in
            try [UInt8](capacity: 253) { output in try answer.encode(address: address, log: log, into: &output) }
        }
        #expect(try bench.receive(frame(10, log)) == .notForThisCollar)
        #expect(try bench.receive(frame(9, stranger)) == .rejected(.crcMismatch))
        #expect(try bench.receive([1, 2, 3]) == .rejected(.tooShort(byteCount: 3)))
        var damaged = try frame(9, log)
        damaged[6] ^= 0x10
        #expect(try bench.receive(damaged) == .rejected(.crcMismatch))
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(bench.collar.firstUndelivered == 0)
        #expect(try bench.receive(frame(Frame.broadcastAddress, log)) == .acknowledgement(.answer))
    }

    @Test func whoAsksWhoIsThereIsToldNext() throws {
        var bench = try CollarBench()
        try bench.log(0..<5)
        _ = try bench.sendAll()
        let question = try [UInt8](capacity: 253) { output in
            try IdentityRequest(receiverID: 99).encode(address: Frame.broadcastAddress, into: &output)
        }
        #expect(try bench.receive(question) == .identityRequest)
        #expect(bench.collar.pairedReceiverID == 0)
        #expect(try bench.sendAll().map(\.message) == [.identity(bench.collar.identity)])
    }

    @Test func framesOfCollarsAreNotForACollar() throws {
        var bench = try CollarBench()
        let frame = try #require(try bench.nextFrame())
        #expect(try bench.receive(frame) == .notForThisCollar)
    }
}
