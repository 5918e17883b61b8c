import Testing

@testable import CollarTracking

/// Which fixes move an animal over a border. Times are in seconds here, distances in metres from the border, negative inside.
@Suite struct BorderWatchTests {
    private struct Sample {
        let time: Int64
        let distance: Double
        var accuracy = 5.0
    }

    /// The times of the fixes that show a crossing, and the times of the crossings.
    private func crossings(_ samples: [Sample], depth: Double = 1000) -> [[Int64]] {
        var watch = BorderWatch(distanceMeters: samples[0].distance)
        return samples.dropFirst().compactMap { sample in
            let crossing = watch.take(
                distanceMeters: sample.distance, accuracyMeters: sample.accuracy, depthMeters: depth, at: sample.time * 1000)
            return crossing.map { [sample.time, $0 / 1000] }
        }
    }

    private func samples(_ distances: [Double], every seconds: Int64 = 10, accuracy: Double = 5) -> [Sample] {
        distances.enumerated().map { Sample(time: Int64($0.offset) * seconds, distance: $0.element, accuracy: accuracy) }
    }

    @Test func fixesThatAreClearForTwentySecondsAreACrossing() {
        #expect(crossings(samples([-50, 5, 20, 30, 40, 50])) == [[40, 10]])
        #expect(crossings(samples([-50, 30, 40], every: 20)) == [[40, 20]])
        #expect(crossings(samples([-50, 30, 40], every: 19)) == [])
        #expect(crossings(samples([50, -5, -20, -30, -40, -50])) == [[40, 10]])
    }

    @Test func oneFixMovesNobody() {
        #expect(crossings(samples([-50, 5000, -50, 5000, -50], every: 3600)) == [])
        #expect(crossings(samples([50, -5000, 50, -5000, 50], every: 3600)) == [])
    }

    /// A fix that is not clear ends the row; one on the former side also ends the crossing.
    @Test func theRowHasNoHoles() {
        #expect(crossings(samples([-50, 25, 19, 25, 25, 25])) == [[50, 10]])
        #expect(crossings(samples([-50, 25, 25, 19, 25, 25])) == [])
        #expect(crossings(samples([-50, 25, -1, 25, 25, 25])) == [[50, 30]])
    }

    @Test func theAccuracyDecidesHowFarIsClear() {
        #expect(crossings(samples([-90, 39, 39, 39, 39], accuracy: 10)) == [])
        #expect(crossings(samples([-90, 41, 41, 41, 41], accuracy: 10)) == [[30, 10]])
        // No receiver is believed to be better than 5 m.
        #expect(crossings(samples([-90, 19, 19, 19, 19], accuracy: 0.01)) == [])
        #expect(crossings(samples([-90, 20, 20, 20, 20], accuracy: 0.01)) == [[30, 10]])
    }

    /// In a small place, a fix of four accuracies inside does not exist.
    @Test func halfTheDepthOfASmallPlaceSuffices() {
        #expect(crossings(samples([30, -9, -9, -9, -9]), depth: 20) == [])
        #expect(crossings(samples([30, -10, -10, -10, -10]), depth: 20) == [[30, 10]])
        // Outside, the depth does not count.
        #expect(crossings(samples([-10, 15, 15, 15, 15]), depth: 20) == [])
    }
}
