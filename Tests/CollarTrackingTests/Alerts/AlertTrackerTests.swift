import CollarSimulator
import CollarWire
import Glibc
import Testing

@testable import CollarTracking

/// The alerts of one collar. Positions are in metres east and north of home, times in seconds.
@Suite struct AlertTrackerTests {
    private static let home = Position(latitude: 50.17, longitude: -5.11)
    private static let logID: LogID = 7
    private static let garden = Place(name: "home", shape: .circle(center: home, radiusMeters: 60))

    private var tracker = AlertTracker()
    private var random = SeededRandom(seed: 45)
    private var sequence: UInt32 = 0
    private var rules = AlertRules()
    private var places = [AlertTrackerTests.garden]
    private var owner: Position? = AlertTrackerTests.home
    /// Since when an owner who moves is there, in milliseconds.
    private var ownerSince: Int64?

    private var watch: AlertWatch { AlertWatch(rules, places: PlaceTable(places), owner: owner, ownerSince: ownerSince) }

    private func fix(
        east: Double, north: Double = 0, accuracy: Double? = 5, battery: UInt8? = nil, at seconds: Double, sequence: UInt32
    ) -> Fix {
        let latitude = AlertTrackerTests.home.latitudeDegrees + north / 111_230
        let longitude = AlertTrackerTests.home.longitudeDegrees + east / (111_230 * cos(50.17 * .pi / 180))
        return Fix(
            sequence: sequence, unixMilliseconds: Int64(seconds * 1000), positionStep: .e6, latitudeSteps: Int32(latitude * 1e6),
            longitudeSteps: Int32(longitude * 1e6),
            horizontalAccuracy: accuracy.map { AccuracyCode(nearestToMillimeters: UInt32($0 * 1000)) }, batteryPercent: battery)
    }

    /// Takes a fix that comes at once. Alerts are `left home@180`, with the time of their fix.
    private mutating func take(
        east: Double, north: Double = 0, accuracy: Double? = 5, battery: UInt8? = nil, at seconds: Double, heardAt received: Double? = nil
    ) -> [String] {
        let next = fix(east: east, north: north, accuracy: accuracy, battery: battery, at: seconds, sequence: sequence)
        sequence += 1
        return texts(
            tracker.take(next, logID: AlertTrackerTests.logID, receivedUnixMilliseconds: Int64((received ?? seconds) * 1000), watch))
    }

    private func texts(_ alerts: [Alert]) -> [String] {
        alerts.map { alert in
            let place = alert.event.place.map { " \($0)" } ?? ""
            return "\(alert.event.name)\(place)@\(alert.unixMilliseconds / 1000)\(alert.isLate ? " late" : "")"
        }
    }

    /// Normally distributed (Box and Muller).
    private mutating func noise(_ deviation: Double) -> Double {
        let (first, second) = (Double.random(in: .leastNonzeroMagnitude..<1, using: &random), Double.random(in: 0..<1, using: &random))
        return deviation * (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
    }

    // MARK: Stories

    /// The animal lies on the border: fixes of 10 m with an error of 10 m in each direction, for a day, at 1 Hz and every three minutes.
    @Test mutating func noiseAtTheFenceRingsNobody() {
        for interval in [1.0, 180] {
            for _ in 0..<(interval == 1 ? 1 : 20) {
                tracker = AlertTracker()
                var alerts: [String] = []
                for index in 0..<Int(86_400 / interval) {
                    alerts += take(east: 60 + noise(10), north: noise(10), accuracy: 10, at: Double(index) * interval)
                }
                #expect(alerts == [], "every \(interval) s")
            }
        }
    }

    @Test mutating func aWalkOutAndBackIsOneLeftAndOneEntered() {
        var alerts: [String] = []
        // A metre a second, for ten minutes out and ten back.
        for second in 0...1200 {
            let distance = second <= 600 ? Double(second) : Double(1200 - second)
            alerts += take(east: distance + noise(3), north: noise(3), at: Double(second))
        }
        #expect(alerts.count == 2)
        // Crossings at 60 and 1140: 20 m and 20 s later they are sure.
        #expect(alerts.first.map { $0.hasPrefix("left home@") } == true && alerts.last.map { $0.hasPrefix("entered home@") } == true)
        let times = alerts.compactMap { Int($0.split(separator: "@")[1]) }
        #expect(times[0] >= 95 && times[0] < 125 && times[1] >= 1175 && times[1] <= 1200)
    }

    @Test mutating func theTimeOfACrossingIsThatOfTheFirstFixBeyondTheBorder() throws {
        for second in 0..<60 { #expect(take(east: 0, at: Double(second)) == []) }
        var events: [Alert.Event] = []
        for second in 60..<130 {
            let next = fix(east: Double(second - 60) * 2, at: Double(second), sequence: sequence)
            sequence += 1
            events += tracker.take(next, logID: AlertTrackerTests.logID, receivedUnixMilliseconds: Int64(second) * 1000, watch).map(\.event)
        }
        guard case .left("home", let since)? = events.first else { return #expect(Bool(false), "no alert") }
        #expect(events.count == 1 && (90_000...92_000).contains(since))
    }

    @Test mutating func aPoorFixMovesNobody() {
        #expect(take(east: 0, at: 0) == [])
        for index in 1...4 { #expect(take(east: 5000, accuracy: 80, at: Double(index) * 60) == []) }
        #expect(take(east: 0, at: 300) == [])
    }

    @Test mutating func aBacklogIsLateAndInOrder() {
        let distances = [0.0, 0, 200, 200, 0, 0, 300, 300, 0, 0]
        var alerts: [String] = []
        for (index, distance) in distances.enumerated() { alerts += take(east: distance, at: Double(index) * 1800, heardAt: 30_000) }
        #expect(alerts == ["left home@5400 late", "entered home@9000 late", "left home@12600 late", "entered home@16200 late"])
    }

    /// A fix that is older than the latest one says nothing.
    @Test mutating func whatIsNotTheLatestIsIgnored() {
        #expect(take(east: 0, at: 0) == [])
        let before = tracker
        sequence = 0
        for _ in 0..<3 {
            let old = fix(east: 500, at: 100, sequence: 0)
            #expect(tracker.take(old, logID: AlertTrackerTests.logID, receivedUnixMilliseconds: 0, watch) == [])
        }
        #expect(tracker == before)
    }

    /// A collar begins a new log when its memory is erased: sequences begin at 0 again. What comes from the former log is old.
    @Test mutating func aNewLogGoesOn() {
        for index in 0..<5 { #expect(take(east: 0, at: Double(index) * 60) == []) }
        func inLog(_ log: LogID, _ sequence: UInt32, east: Double, at seconds: Double) -> [String] {
            texts(
                tracker.take(
                    fix(east: east, at: seconds, sequence: sequence), logID: log, receivedUnixMilliseconds: Int64(seconds * 1000), watch))
        }
        #expect(inLog(8, 0, east: 200, at: 600) == [])
        #expect(inLog(7, 9, east: 0, at: 620) == [])
        #expect(inLog(8, 1, east: 200, at: 640) == ["left home@640"])
    }

    @Test mutating func batteriesAreToldOnceUntilTheyAreCharged() {
        var alerts: [String] = []
        for (index, percent) in ([30, 21, 20, 22, 20, 19, 10, 12, 10, 16, 10, 26, 20] as [UInt8]).enumerated() {
            alerts += take(east: 0, battery: percent, at: Double(index))
        }
        #expect(alerts == ["battery_low@2", "battery_critical@6", "battery_critical@10", "battery_low@12"])
    }

    /// A charge of 10 % at once is one alert, not two.
    @Test mutating func anEmptyBatteryIsOneAlert() {
        #expect(take(east: 0, battery: 80, at: 0) == [])
        #expect(take(east: 0, battery: 5, at: 1) == ["battery_critical@1"])
        #expect(take(east: 0, battery: nil, at: 2) == [])
    }

    @Test mutating func fivePoorFixesInARowAreOneAlert() {
        var alerts: [String] = []
        for index in 0..<20 { alerts += take(east: 0, accuracy: index == 4 ? 5 : 80, at: Double(index)) }
        #expect(alerts == ["poor_fixes@9"])
        // Five good ones end it; fewer do not.
        for index in 20..<24 { alerts += take(east: 0, accuracy: 5, at: Double(index)) }
        for index in 24..<30 { alerts += take(east: 0, accuracy: 80, at: Double(index)) }
        #expect(alerts == ["poor_fixes@9"])
        for index in 30..<35 { alerts += take(east: 0, accuracy: 5, at: Double(index)) }
        for index in 35..<40 { alerts += take(east: 0, accuracy: 80, at: Double(index)) }
        #expect(alerts == ["poor_fixes@9", "poor_fixes@39"])
    }

    @Test mutating func fartherThanALimit() {
        rules.fartherMeters = 500
        var alerts: [String] = []
        for (index, distance) in [0.0, 490, 510, 530, 530, 700, 480, 470, 470].enumerated() {
            alerts += take(east: distance, at: Double(index) * 60)
        }
        #expect(alerts == ["left home@120", "far@240", "near@480"])
    }

    // MARK: Changes that are said

    @Test mutating func anEditedFenceIsSaid() {
        for index in 0..<3 { #expect(take(east: 100, at: Double(index) * 60) == []) }
        places = [Place(name: "home", shape: .circle(center: AlertTrackerTests.home, radiusMeters: 150))]
        #expect(take(east: 100, at: 200) == ["place_changed home@200"])
        #expect(take(east: 100, at: 260) == [])
        // A new place begins with the side on which the animal is, a place that is gone ends.
        places.append(Place(name: "meadow", shape: .circle(center: AlertTrackerTests.home, radiusMeters: 300)))
        #expect(take(east: 100, at: 300) == [])
        places.removeFirst()
        #expect(take(east: 600, at: 360) == [] && take(east: 600, at: 420) == ["left meadow@420"])
    }

    @Test mutating func anOwnerWhoMovesIsSaid() {
        rules.fartherMeters = 500
        #expect(take(east: 0, at: 0) == [])
        owner = Position(latitude: 50.27, longitude: -5.11)
        #expect(take(east: 0, at: 60) == ["owner_moved@60"])
        #expect(take(east: 0, at: 120) == [])
    }

    // MARK: An owner who moves

    /// The owner goes, or begins to move, at a time in seconds; nil for an unknown position.
    private mutating func ownerGoes(north: Double?, at seconds: Int64) {
        (rules.fartherMeters, places) = (500, [])
        owner = north.map { Position(latitude: AlertTrackerTests.home.latitudeDegrees + $0 / 111_230, longitude: -5.11) }
        ownerSince = seconds * 1000
    }

    @Test mutating func onlyFixesSayThatAnAnimalIsFarFromAnOwnerWhoMoves() {
        ownerGoes(north: 0, at: 0)
        #expect(take(east: 0, at: 0) == [])
        for north in stride(from: 100.0, through: 2000, by: 100) { ownerGoes(north: north, at: 30) }
        #expect(take(east: 0, at: 40) == [] && take(east: 0, at: 60) == ["far@60"])
        ownerGoes(north: 300, at: 70)
        #expect(take(east: 0, at: 80) == [] && take(east: 0, at: 100) == ["near@100"])
    }

    @Test mutating func whileTheOwnerIsUnknownTheAnimalStaysWhereItWas() throws {
        ownerGoes(north: 0, at: 0)
        #expect(take(east: 0, at: 0) == [])
        ownerGoes(north: 2000, at: 10)
        #expect(take(east: 0, at: 20) == [])
        ownerGoes(north: nil, at: 25)
        #expect(take(east: 0, at: 30) == [])
        tracker = try #require(AlertTracker(text: tracker.text))
        // The fixes in a row begin again.
        ownerGoes(north: 2000, at: 35)
        #expect(take(east: 0, at: 50) == [] && take(east: 0, at: 69) == [] && take(east: 0, at: 70) == ["far@70"])
    }

    @Test mutating func fixesFromBeforeTheOwnerCameAreNotJudged() {
        ownerGoes(north: 0, at: 0)
        #expect(take(east: 0, at: 0) == [])
        ownerGoes(north: 2000, at: 1000)
        #expect(take(east: 0, at: 600) == [] && take(east: 0, at: 939) == [] && take(east: 0, at: 940) == [] && take(east: 0, at: 959) == [])
        #expect(take(east: 0, at: 960) == ["far@960"])
    }

    @Test mutating func anOwnerWhoBeginsToMoveIsSaid() {
        rules.fartherMeters = 500
        #expect(take(east: 0, at: 0) == [])
        ownerGoes(north: 0, at: 10)
        #expect(take(east: 0, at: 20) == ["owner_moved@20"] && take(east: 0, at: 30) == [])
    }

    @Test mutating func aClockThatGoesBackIsSaid() {
        #expect(take(east: 0, at: 10_000) == [])
        #expect(take(east: 0, at: 9_950) == [])
        #expect(take(east: 100, at: 9_800) == ["clock_changed@9800"])
        // The crossing goes on by the new clock.
        #expect(take(east: 100, at: 9_810) == [] && take(east: 100, at: 9_820) == ["left home@9820"])
    }

    // MARK: Silence

    private mutating func hear(at seconds: Int64, now: Int64? = nil) -> [String] {
        texts(tracker.hear(at: seconds * 1000, now: (now ?? seconds) * 1000, watch))
    }

    @Test mutating func silenceIsToldOnceAndItsEnd() {
        rules.silentMilliseconds = 600_000
        #expect(hear(at: 0) == [] && hear(at: 500) == [] && tracker.silenceDeadline(watch) == 1_100_000)
        #expect(texts(tracker.silence(until: 1_099_999, watch)) == [])
        #expect(texts(tracker.silence(until: 1_100_000, watch)) == ["silent@1100"])
        #expect(texts(tracker.silence(until: 2_000_000, watch)) == [] && tracker.silenceDeadline(watch) == nil)
        #expect(hear(at: 3000) == ["heard@3000"] && hear(at: 3001) == [])
    }

    /// A reader that was away finds the silence in the times of the journal.
    @Test mutating func aSilenceThatIsOverIsTold() {
        rules.silentMilliseconds = 600_000
        #expect(hear(at: 0) == [] && hear(at: 5000, now: 9000) == ["silent@600", "heard@5000"])
        // What was received before, and is read later, is no news.
        #expect(hear(at: 4000, now: 9000) == [] && hear(at: 5100, now: 9000) == [])
    }

    @Test mutating func aClockOfReceptionsThatGoesBackIsSaid() {
        rules.silentMilliseconds = 600_000
        #expect(hear(at: 100_000) == [])
        #expect(hear(at: 5000, now: 5000) == ["clock_changed@5000"])
        #expect(tracker.silenceDeadline(watch) == 5_600_000)
    }

    @Test mutating func withoutALimitThereIsNoSilence() {
        rules.silentMilliseconds = nil
        #expect(hear(at: 0) == [] && hear(at: 1_000_000) == [] && tracker.silenceDeadline(watch) == nil)
    }

    // MARK: The text of a reader's file

    @Test mutating func aTrackerSurvivesItsText() throws {
        #expect(AlertTracker(text: tracker.text) == tracker)
        rules.fartherMeters = 500
        for (index, distance) in [0.0, 0, 30, 90, 90, 90, 5000, 90].enumerated() {
            _ = take(east: distance, accuracy: index == 6 ? 80 : 5, battery: 18, at: Double(index) * 15)
            _ = tracker.hear(at: Int64(index) * 15_000, now: Int64(index) * 15_000, watch)
            #expect(AlertTracker(text: tracker.text) == tracker)
        }
        _ = tracker.silence(until: .max, watch)
        let alert = Alert(.left(place: "a b", since: 0), .fix(logID: 7, sequence: 99), unixMilliseconds: 0)
        tracker.tell(alert, of: 0xA)
        #expect(AlertTracker(text: tracker.text) == tracker && tracker.hasTold(AlertID(alert, of: 0xA)))
        // The end of a word may be gone, but no word may be another.
        let words = tracker.text.split(separator: " ")
        for index in words.indices {
            var broken = words
            broken[index] = "?"
            #expect(AlertTracker(text: broken.joined(separator: " ")) == nil)
        }
    }

    @Test func quietHoursMayLieOverMidnight() throws {
        let night = try #require(QuietHours(startMinute: 22 * 60, endMinute: 7 * 60))
        #expect([1319, 1320, 0, 419, 420].map(night.contains(minute:)) == [false, true, true, true, false])
        let noon = try #require(QuietHours(startMinute: 720, endMinute: 780))
        #expect([719, 720, 779, 780].map(noon.contains(minute:)) == [false, true, true, false])
        #expect(QuietHours(startMinute: 5, endMinute: 5) == nil && QuietHours(startMinute: 0, endMinute: 1440) == nil)
    }

    /// The same fix gives the same id, whatever receiver has it; another place, kind, fix or collar gives another one.
    @Test func idsDependOnTheFixAlone() {
        func id(_ event: Alert.Event, _ sequence: UInt32 = 1, of deviceID: DeviceID = 0xA, isLate: Bool = false) -> AlertID {
            AlertID(Alert(event, .fix(logID: 1, sequence: sequence), unixMilliseconds: 5, isLate: isLate), of: deviceID)
        }
        let left = id(.left(place: "home", since: 1))
        #expect(left == id(.left(place: "home", since: 2), isLate: true))
        let others = [
            id(.left(place: "meadow", since: 1)), id(.entered(place: "home", since: 1)), id(.left(place: "home", since: 1), 2),
            id(.left(place: "home", since: 1), of: 0xB),
        ]
        #expect(Set(others + [left]).count == 5)
        #expect(left.high >> 12 & 0xF == 8 && left.low >> 62 == 2)
    }
}
