import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Observation
import Testing

/// What a tracker shows.
@MainActor @Suite struct PetTrackerTests {
    private let session: MockSession

    init() throws { session = try MockSession() }

    /// Waits until a condition holds: the streams of a tracker run beside the test.
    private func eventually(_ condition: () -> Bool, at location: SourceLocation = #_sourceLocation) async throws {
        for _ in 0..<500 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
        #expect(condition(), sourceLocation: location)
    }

    private func started(_ limit: Int = 100) -> PetTracker {
        let tracker = PetTracker(session.collar, historyLimit: limit)
        tracker.startTracking()
        return tracker
    }

    private func receive(_ sequences: Int...) async throws {
        for sequence in sequences { try await session.receive(.sample(sequence: sequence)) }
    }

    @Test func nothingIsKnownAtFirst() {
        let tracker = PetTracker(session.collar)
        #expect(tracker.latestPetLocation == nil && tracker.locationHistory.isEmpty && tracker.lastError == nil && !tracker.isTracking)
        #expect(tracker.distanceFromOwner == nil && tracker.bearingFromOwner == nil && tracker.petBatteryLevel == nil)
        #expect(tracker.accuracyMeters == nil && tracker.accuracyWord == nil && tracker.timeSinceLastUpdate == nil)
        #expect(tracker.connectionStatus == .connecting && !tracker.isStale && !tracker.isReachable && !tracker.isSessionActivated)
    }

    @Test func theSequenceOrdersFixesAndALateOneIsNeverTheNewest() async throws {
        try await receive(1)
        session.clock.advance(bySeconds: 1)
        let tracker = started(3)
        try await eventually { tracker.latestPetLocation?.sequence == 1 }
        try await receive(5, 3)
        try await eventually { tracker.locationHistory.map(\.sequence) == [1, 3, 5] }
        #expect(tracker.latestPetLocation?.sequence == 5)
        try await receive(6)
        try await eventually { tracker.locationHistory.map(\.sequence) == [3, 5, 6] }
        tracker.clearHistory()
        #expect(tracker.locationHistory.isEmpty && tracker.latestPetLocation?.sequence == 6)
        try await receive(4)
        try await eventually { tracker.locationHistory.map(\.sequence) == [4] }
        #expect(tracker.latestPetLocation?.sequence == 6)
    }

    @Test func valuesOfTheNewestFix() async throws {
        let tracker = started()
        try await receive(1)
        try await eventually { tracker.latestPetLocation != nil }
        #expect(tracker.petBatteryLevel == 0.85 && tracker.accuracyMeters == 4.833 && tracker.accuracyWord == "good")
        #expect(tracker.timeSinceLastUpdate == 0 && !tracker.isStale)
        session.clock.advance(bySeconds: 59)
        #expect(tracker.timeSinceLastUpdate == 59 && !tracker.isStale)
        session.clock.advance(bySeconds: 1)
        #expect(tracker.isStale)
    }

    @Test func theWayFromTheOwner() async throws {
        let tracker = started()
        tracker.ownerLocation = LocationFix.Coordinate(latitude: 37.7759, longitude: -122.4194)
        #expect(tracker.distanceFromOwner == nil)
        try await receive(1)
        try await eventually { tracker.latestPetLocation != nil }
        let distance = try #require(tracker.distanceFromOwner)
        #expect((110.9...111.1).contains(distance) && tracker.bearingFromOwner == 180)
        // 5 m are within the filter, 11 m are not.
        tracker.ownerLocation = LocationFix.Coordinate(latitude: 37.775945, longitude: -122.4194)
        #expect(tracker.ownerLocation?.latitude == 37.7759)
        tracker.ownerLocation = LocationFix.Coordinate(latitude: 37.776, longitude: -122.4194)
        #expect(tracker.ownerLocation?.latitude == 37.776)
        tracker.ownerLocation = LocationFix.Coordinate(latitude: 91, longitude: 0)
        #expect(tracker.ownerLocation == nil && tracker.distanceFromOwner == nil)
        tracker.ownerLocation = tracker.latestPetLocation?.coordinate
        #expect(tracker.distanceFromOwner == 0 && tracker.bearingFromOwner == nil)
    }

    @Test func theConnection() async throws {
        let tracker = started()
        await session.setReachable(true)
        try await session.report(.heard(port: "radio"))
        try await eventually { tracker.connectionStatus == .connected }
        #expect(tracker.isReachable && tracker.isSessionActivated)
        await session.setReachable(false)
        try await session.report(.unreachable)
        try await eventually { tracker.connectionStatus == .notReachable }
        #expect(!tracker.isReachable && tracker.isSessionActivated)
    }

    @Test func itGoesOnByItselfOnceAnErrorIsMended() async throws {
        let tracker = PetTracker(session.collar(named: "Athena"))
        try await receive(1)
        tracker.startTracking()
        tracker.startTracking()
        try await eventually { tracker.lastError?.code == .unknownCollar }
        // The second attempt fails, too.
        session.clock.advance(bySeconds: 1)
        try await eventually { tracker.lastError == nil || tracker.lastError?.code == .unknownCollar }
        try Data("[animal Athena]\nwears = \(session.collarID)\n".utf8).write(to: URL(filePath: "\(session.stateDirectory)/animals"))
        for _ in 0..<50 where tracker.latestPetLocation == nil {
            session.clock.advance(bySeconds: 9)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(tracker.latestPetLocation?.sequence == 1)
        try await eventually { tracker.lastError == nil }
        #expect(tracker.historyAsGPX.contains("<name>Athena</name>"))
    }

    @Test func whenItIsStoppedNothingChanges() async throws {
        let tracker = started()
        try await receive(1)
        await session.setReachable(true)
        try await session.report(.heard(port: "radio"))
        try await eventually { tracker.latestPetLocation != nil && tracker.connectionStatus == .connected }
        tracker.stopTracking()
        #expect(!tracker.isTracking && tracker.connectionStatus == .connecting)
        try await receive(2)
        try await Task.sleep(for: .milliseconds(100))
        #expect(tracker.latestPetLocation?.sequence == 1 && tracker.connectionStatus == .connecting)
        tracker.startTracking()
        try await eventually { tracker.latestPetLocation?.sequence == 2 && tracker.connectionStatus == .connected }
    }

    @Test func trackersAreIndependentAndEndWithTheirLastReference() async throws {
        let first = started()
        weak var second: PetTracker?
        do {
            let tracker = started()
            second = tracker
            try await receive(1)
            try await eventually { first.latestPetLocation != nil && tracker.latestPetLocation != nil }
        }
        try await eventually { second == nil }
        try await receive(2)
        try await eventually { first.latestPetLocation?.sequence == 2 }
    }

    @Test func changesAreObserved() async throws {
        let tracker = started()
        await withCheckedContinuation { continuation in
            withObservationTracking { _ = tracker.latestPetLocation } onChange: { continuation.resume() }
            Task { try? await receive(1) }
        }
        try await eventually { tracker.latestPetLocation?.sequence == 1 }
    }

    @Test func theTrailAsGPX() async throws {
        let tracker = started()
        try await receive(1, 2)
        try await eventually { tracker.locationHistory.count == 2 }
        let text = tracker.historyAsGPX
        #expect(text.hasPrefix("<?xml") && text.hasSuffix("</gpx>\n") && text.contains(#"<trkpt lat="37.7749"#))
        #expect(text.split(separator: "<trkpt ").count == 3 && text.contains("<time>2023-11-07T23:53:54"))
    }

    @Test func allFixesOfALossyRadioComeInOrder() async throws {
        let flaky = try FlakySession(loss: 0.3, seed: 5)
        let tracker = PetTracker(flaky.collar, historyLimit: 1000)
        tracker.startTracking()
        try await eventually { tracker.locationHistory.count == flaky.fixCount }
        #expect(tracker.locationHistory.map(\.sequence) == Array(0..<flaky.fixCount))
        #expect(tracker.latestPetLocation?.sequence == flaky.fixCount - 1)
    }
}
