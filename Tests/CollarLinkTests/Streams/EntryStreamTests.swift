import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Testing

/// The streams of gaps, events and alerts, and the choice of the collar.
@Suite struct EntryStreamTests {
    private func all<Element>(_ stream: StoredStream<Element>) async throws -> [Element] {
        var found: [Element] = []
        for try await element in stream { found.append(element) }
        return found
    }

    private func write(_ text: String, to name: String, of session: MockSession) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(session.stateDirectory)/\(name)"))
    }

    @Test func gapsAreToldAndFilled() async throws {
        let session = try MockSession()
        for sequence in [0, 1, 5] { try await session.receive(.sample(sequence: sequence)) }
        var gaps = session.collar.gaps().makeAsyncIterator()
        var gap = try await gaps.next()
        #expect(gap?.state == .missing && gap?.sequences == 2...4 && gap?.collarID == session.collarID)
        #expect(gap?.date == session.clock.now)
        for sequence in [3, 4] { try await session.receive(.sample(sequence: sequence)) }
        try await session.lose(2...2)
        await session.finish()
        var states: [String] = []
        while let next = try await gaps.next() {
            gap = next
            states.append("\(next.state) \(next.sequences)")
        }
        #expect(states == ["filled 3...4", "lost 2...2"])
    }

    @Test func eventsHaveTheirKinds() async throws {
        let kinds: [CollarEvent.Kind] = [
            .opened(port: "/dev/ttyUSB0"), .heard(port: "/dev/ttyUSB0"), .late, .unreachable, .reachable, .degraded, .unhealthy, .healthy,
            .restarted(cause: nil), .restarted(cause: "watchdog_reset"),
            .problem(UserFacingError(.batteryLow, reason: "15 %.", remedy: "Charge it.")), .unplugged(port: "/dev/ttyUSB0"),
            .closed(port: "/dev/ttyUSB0"),
        ]
        let session = try MockSession()
        let stream = session.collar.events(as: "log")
        try await session.report(.opened(port: "before"))
        session.clock.advance(bySeconds: 1)
        // The stream begins at the time of the first call.
        for kind in kinds { try await session.report(kind) }
        await session.finish()
        let found = try await all(stream)
        #expect(found.map(\.kind) == kinds)
        #expect(found.allSatisfy { $0.date == session.clock.now && $0.json.hasPrefix(#"{"type":""#) && $0.json.hasSuffix("}") })
        #expect(found[0].collarID == nil && found[1].collarID == session.collarID)
        #expect(try await all(session.collar.events(as: "log")).isEmpty)
    }

    @Test func anAnimalThatLeavesHomeRaisesAnAlert() async throws {
        let session = try MockSession()
        try write("[place home]\nat = 37.7749 -122.4194\nradius = 50\n", to: "places", of: session)
        try write("[animal Athena]\nwears = \(session.collarID)\n", to: "animals", of: session)
        let collar = session.collar
        let task = Task { try await all(collar.alerts(as: "bell")) }
        try await Task.sleep(for: .milliseconds(50))
        for sequence in 0..<120 {
            session.clock.advance(bySeconds: 1)
            let sample = LocationFix.sample(sequence: sequence)
            let north = sequence < 60 ? 0 : 0.002
            try await session.receive(
                LocationFix(
                    timestamp: session.clock.now, source: .collar,
                    coordinate: LocationFix.Coordinate(latitude: sample.coordinate.latitude + north, longitude: sample.coordinate.longitude),
                    horizontalAccuracyMeters: 5, verticalAccuracyMeters: 5, speedMetersPerSecond: 1, courseDegrees: 0,
                    batteryFraction: sequence < 100 ? 0.8 : 0.09, sequence: sequence))
        }
        await session.finish()
        let alerts = try await task.value
        #expect(alerts.map(\.text) == ["Athena left home", "Athena: the battery is almost empty, 9 %"])
        let left = try #require(alerts.first)
        guard case .left(place: "home", let since) = left.kind else { return _ = Issue.record("\(left.kind)") }
        #expect(since < left.date && left.animal == "Athena" && left.collarID == session.collarID && left.fix?.sequence == 80)
        #expect(!left.isLate && !left.isQuiet)
        // The position is kept: nothing rings twice.
        #expect(try await all(session.collar.alerts(as: "bell")).isEmpty)
    }

    @Test func positionsInPrivatePlacesAreHidden() async throws {
        let session = try MockSession()
        try write("[place home]\nat = 37.775 -122.42\nradius = 200\nprivate = yes\n", to: "places", of: session)
        let sent = try await session.receive(.sample())
        await session.finish()
        let hidden = try #require(try await all(session.collar.fixes(.everything)).first)
        #expect(hidden.id == sent.id && hidden.coordinate == LocationFix.Coordinate(latitude: 37.775, longitude: -122.42))
        #expect(hidden.horizontalAccuracyMeters >= 190 && !hidden.hasValidSpeed && !hidden.hasValidCourse)
        var collar = session.collar
        collar.showsPrivatePositions = true
        #expect(try await all(collar.fixes(.everything)) == [sent])
        // A file of places that cannot be used may have a private place in it.
        try write("[place home]\nat = nowhere\n", to: "places", of: session)
        let error = await #expect(throws: UserFacingError.self) { try await all(session.collar.fixes(.everything)) }
        #expect(error?.code == .placesUnusable)
    }

    @Test func aCollarIsNamedByItsAnimalOrItsID() async throws {
        let session = try MockSession()
        try write("[animal Athena]\nwears = \(session.collarID)\n[animal Zeus]\nwears = 0123456789abcdef\n", to: "animals", of: session)
        try await session.receive(.sample())
        await session.finish()
        for (name, count) in [("Athena", 1), ("Zeus", 0), (session.collarID, 1), ("0123456789abcdef", 0)] {
            #expect(try await all(session.collar(named: name).fixes(.everything)).count == count, "\(name)")
        }
        let error = await #expect(throws: UserFacingError.self) { try await all(session.collar(named: "Hera").fixes(.everything)) }
        #expect(error?.code == .unknownCollar && error?.reason.contains("'Hera'") == true)
    }
}
