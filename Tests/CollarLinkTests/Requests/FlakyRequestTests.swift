import CollarErrors
import CollarLink
import CollarLinkTesting
import CollarWire
import Testing

/// Requests through a radio that loses a third of the frames, to the firmware of a collar.
@Suite struct FlakyRequestTests {
    @Test(arguments: 1...10) func everyRequestGetsItsReply(seed: Int) async throws {
        let session = try FlakySession(loss: 0.3, seed: UInt64(seed))
        for number in 0..<5 { #expect(try await session.collar.send(Echo(text: "echo \(number)"), timeout: .seconds(600)) == "echo \(number)") }
    }

    @Test(arguments: 1...5) func theReceiverMayBeKilledWhileARequestWaits(seed: Int) async throws {
        let session = try FlakySession(interval: 10, loss: 0.3, seed: UInt64(seed))
        for try await _ in session.collar.fixes { break }
        async let reply = session.collar.send(Echo(text: "again"), timeout: .seconds(600))
        for _ in 0..<3 {
            for try await _ in session.collar.fixes { break }
            try await session.restartReceiver()
        }
        #expect(try await reply == "again")
    }

    @Test func theCommandsOfEveryCollar() async throws {
        let session = try FlakySession(loss: 0.2, seed: 3)
        let collar = session.collar
        try await collar.locate(timeout: .seconds(600))
        try await collar.sound(seconds: 0.5, timeout: .seconds(600))
        let version = try await collar.set([.heartbeatSeconds: 30, .intervalMilliseconds: 700], timeout: .seconds(600))
        let settings = try await collar.settings(timeout: .seconds(600))
        #expect(settings[.heartbeatSeconds] == 30 && settings[.intervalMilliseconds] == 700)
        #expect(settings.version == version && version > .defaults && settings.values.count == Int(SettingKey.count))
        try await collar.turnTrackingOff(timeout: .seconds(600))
        try await collar.turnTrackingOn(timeout: .seconds(600))
        try await collar.reboot(timeout: .seconds(600))
    }

    @Test func withoutARadioNowFailsAtOnce() async throws {
        let session = try FlakySession(seed: 2)
        for try await _ in session.collar.fixes { break }
        await session.setRadio(isPluggedIn: false)
        let error = await RequestTests.error { () async throws(UserFacingError) in
            try await session.collar.locate(delivery: .now, retry: .none)
        }
        #expect(error?.code == .noRadio && error?.remedy != nil)
    }
}
