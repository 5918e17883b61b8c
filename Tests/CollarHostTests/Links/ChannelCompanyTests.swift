import CollarARQ
import CollarHost
import CollarWire
import Testing

/// How a host counts the collars at a port, and asks them for their identities.
@Suite struct CompanyTests {
    private let collars = (1...20).compactMap { number -> PaperCollar? in
        var collar = try? PaperCollar(deviceID: DeviceID(rawValue: 0xC0 + UInt64(number)))
        collar?.address = UInt8(number)
        return collar
    }

    /// The company in the last acknowledgement.
    private func company(in frames: [(link: LinkID, bytes: [UInt8])], of collar: PaperCollar) throws -> Company? {
        guard let frame = frames.last(where: { $0.bytes[0] & 0x1F == MessageType.acknowledgement.rawValue })?.bytes else { return nil }
        return try Acknowledgement(decoding: frame.span, header: try FrameHeader(frame.span)).company
    }

    private func answer(_ bench: HostBench, to collar: PaperCollar, on link: LinkID, heartbeat: UInt16 = 60) throws -> Company? {
        bench.receive(try collar.identity(heartbeat: heartbeat), on: link)
        bench.commit()
        return try company(in: bench.frames(), of: collar)
    }

    @Test func anAnswerSaysHowManyCollarsArePresent() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        var found: [Company?] = []
        for collar in collars {
            bench.wait(seconds: 1.5)
            found.append(try answer(bench, to: collar, on: link))
        }
        #expect(found == [.alone] + Array(repeating: .few, count: 3) + Array(repeating: .several, count: 12) + Array(repeating: .many, count: 4))
    }

    @Test func eachPortHasItsOwnCompany() throws {
        let bench = try HostBench()
        let (first, second) = (bench.openLink("one"), bench.openLink("two"))
        #expect(try answer(bench, to: collars[0], on: first) == .alone)
        #expect(try answer(bench, to: collars[1], on: second) == .alone)
        #expect(try answer(bench, to: collars[2], on: first) == .few)
    }

    @Test(arguments: [(60, 600), (900, 2700)] as [(UInt16, Double)])
    func aCollarThatIsNotHeardCountsNoMore(heartbeat: UInt16, seconds: Double) throws {
        let bench = try HostBench()
        let link = bench.openLink()
        #expect(try answer(bench, to: collars[0], on: link, heartbeat: heartbeat) == .alone)
        bench.wait(seconds: seconds - 1)
        #expect(try answer(bench, to: collars[1], on: link) == .few)
        bench.wait(seconds: 1)
        #expect(try answer(bench, to: collars[1], on: link) == .alone)
    }

    /// Where airtime is short, collars are asked for fewer polls, until it is not or the port is opened again.
    @Test func shortAirtimeIsTheCompanyOfMany() throws {
        let bench = try HostBench()
        let (short, other) = (bench.openLink("one"), bench.openLink("two"))
        func companies() throws -> [Company?] {
            bench.wait(seconds: 1.5)
            return try zip([short, other], collars).map { try answer(bench, to: $1, on: $0) }
        }
        #expect(try companies() == [.alone, .alone])
        bench.host.setAirtimeShort(true, of: short)
        #expect(try companies() == [.many, .alone])
        bench.host.setAirtimeShort(false, of: short)
        #expect(try companies() == [.alone, .alone])
        bench.host.setAirtimeShort(true, of: short)
        bench.host.linkClosed(short, at: bench.time)
        bench.host.linkOpened(short, at: bench.time)
        #expect(try companies() == [.alone, .alone])
    }

    /// The addresses of the identity requests, in their order.
    private func asked(_ bench: HostBench) -> [UInt8] {
        bench.frames().filter { $0.bytes[0] & 0x1F == MessageType.identityRequest.rawValue }.map { $0.bytes[2] }
    }

    private func askedUntil(_ bench: HostBench, seconds: Int) -> [[UInt8]] {
        (0..<seconds).map { _ in
            bench.wait(seconds: 1)
            bench.host.deadlineReached(at: bench.time)
            return asked(bench)
        }
    }

    @Test func afterAStartTheCollarsOfThePortAreAskedOneAfterTheOther() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        #expect(asked(bench) == [255])
        for collar in collars[..<3] { _ = try answer(bench, to: collar, on: link) }
        bench.wait(seconds: 3000)
        try bench.restart()
        let other = bench.openLink()
        #expect(asked(bench) == [1])
        // The second collar is heard before its turn to be asked, so it is not asked.
        #expect(try answer(bench, to: collars[1], on: other) == .few)
        #expect(askedUntil(bench, seconds: 8) == [[3], [255], [], [], [], [], [], []])
    }

    @Test func aCollarThatIsNotHeardAfterAStartCountsNoMore() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        for collar in collars[..<3] { _ = try answer(bench, to: collar, on: link) }
        try bench.restart()
        let other = bench.openLink()
        #expect(try answer(bench, to: collars[0], on: other) == .few)
        bench.wait(seconds: 611)
        #expect(try answer(bench, to: collars[0], on: other) == .alone)
    }

    @Test func theQuestionsAreAnExchangeApart() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        for collar in collars[..<3] { _ = try answer(bench, to: collar, on: link) }
        bench.host.linkClosed(link, at: bench.time)
        bench.host.linkOpened(link, at: bench.time)
        bench.host.setTiming(
            ModemProfile(nanosecondsPerByte: 10_000_000, frameOverheadMicroseconds: 2_000_000, turnaroundMicroseconds: 1_000_000),
            of: link)
        #expect(asked(bench) == [1])
        // The first interval is a second, because the timing was not known yet.
        let later = askedUntil(bench, seconds: 16)
        #expect(later.enumerated().filter { !$0.element.isEmpty }.map { $0.element[0] } == [2, 3, 255])
        #expect(later[0] == [2] && later[6] == [3] && later[12] == [255])
    }

    @Test func oneKnownCollarIsAskedWithAllOthers() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        _ = try answer(bench, to: collars[0], on: link)
        try bench.restart()
        _ = bench.openLink()
        #expect(asked(bench) == [255])
    }

    /// A state directory may hold collars of years ago.
    @Test func collarsThatWereNotHeardForAnHourAreNotAsked() throws {
        let bench = try HostBench()
        let link = bench.openLink()
        for collar in collars[..<3] { _ = try answer(bench, to: collar, on: link) }
        bench.wait(seconds: 3700)
        try bench.restart()
        _ = bench.openLink()
        #expect(asked(bench) == [255])
    }
}
