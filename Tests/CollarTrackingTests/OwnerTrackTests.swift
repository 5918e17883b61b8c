import Testing

@testable import CollarTracking

@Suite struct OwnerTrackTests {
    private var track = OwnerTrack(at: 0)

    private func position(north meters: Double) -> Position { Position(latitude: 50 + meters / 111_229, longitude: -5) }

    private mutating func take(north meters: Double, at seconds: Int64 = 1) -> Bool { track.take(position(north: meters), at: seconds * 1_000_000) }

    @Test mutating func aPositionCountsTenMetersFromTheLastThatCounted() {
        #expect(track.position == nil)
        #expect(take(north: 0))
        // Noise, and a slow walk.
        for meters in [9.9, -9.9, 5, 0] { #expect(!take(north: meters)) }
        #expect(track.position == position(north: 0))
        #expect(take(north: 10.1) && track.position == position(north: 10.1))
        #expect(!take(north: 0.2) && !take(north: 20) && take(north: 20.2))
    }

    @Test mutating func aSilentReceiverSaysNothing() {
        #expect(track.nextDeadline == 30_000_000 && !track.deadlineReached(at: 29_999_999))
        #expect(take(north: 0, at: 1) && !take(north: 0, at: 5))
        #expect(track.nextDeadline == 35_000_000 && !track.deadlineReached(at: 34_999_999) && track.position != nil)
        #expect(track.deadlineReached(at: 35_000_000) && track.position == nil)
        // It is told once.
        #expect(track.nextDeadline == nil && !track.deadlineReached(at: 99_000_000))
        #expect(take(north: 0, at: 100) && track.nextDeadline == 130_000_000)
    }

    @Test mutating func aReceiverThatNeverSaysAPositionIsTold() {
        #expect(track.deadlineReached(at: 30_000_000) && track.nextDeadline == nil)
    }
}
