import CollarFormats
import CollarJournal
import CollarSimulator
import CollarTracking
import CollarWire
import Testing

@testable import CollarReaders

/// Alerts that a reader makes of a journal: their order, how often they come, and what a restart does.
@Suite struct AlertBookTests {
    /// A walk: at home, away from 60 s on, at home again from 240 s on; a fix each 30 s.
    private static let walk: [Double] = [0, 0, 100, 200, 300, 300, 200, 100, 0, 0, 0]

    private func append(_ bench: AlertsBench, _ sequences: some Sequence<Int>, heardAt received: Double? = nil) throws {
        for sequence in sequences {
            try bench.append(
                UInt32(sequence), north: AlertBookTests.walk[sequence], at: 30 * Double(sequence), heardAt: received ?? 30 * Double(sequence))
        }
    }

    @Test func aWalkIsTwoAlertsBeforeTheirFixes() throws {
        let bench = try AlertsBench()
        let entries = try bench.entries([.fix, .alert])
        try append(bench, 0..<11)
        #expect(
            try bench.take(entries, at: 301)
                == ["fix 0", "fix 1", "fix 2", "left", "fix 3", "fix 4", "fix 5", "fix 6", "fix 7", "fix 8", "entered", "fix 9", "fix 10"])
    }

    /// Only what is received after the first start is news; where the animal is, is known from before.
    @Test func aFirstStartOnAnOldJournalRaisesNothing() throws {
        let bench = try AlertsBench("silent = 1m")
        try append(bench, 0..<5)
        let entries = try bench.entries(as: "push", from: 130)
        #expect(try bench.take(entries, at: 131) == [])
        try append(bench, 5..<11)
        #expect(try bench.take(entries, at: 301) == ["entered"])
    }

    /// The clock is a day ahead when the reader begins, and is then set right.
    @Test func aFirstStartWithAClockThatIsAheadIsNotSilentForLong() throws {
        let bench = try AlertsBench()
        try append(bench, 0..<5)
        do {
            let entries = try bench.entries(as: "push", from: 86_400)
            #expect(try bench.take(entries, at: 86_401) == [])
            try append(bench, 5..<11)
            #expect(try bench.take(entries, at: 301) == ["entered"])
            try bench.store(entries, at: 302)
        }
        // The reader has kept the time from which it counts.
        try bench.append(11, north: 300, at: 330)
        try bench.append(12, north: 300, at: 360)
        #expect(try bench.take(try bench.entries(as: "push"), at: 361) == ["left"])
    }

    /// A reader that begins at the present time hears of no crossing and of no silence of the past.
    @Test func aReaderWithoutAStartBeginsNow() throws {
        let bench = try AlertsBench("silent = 1m")
        try append(bench, 0..<11)
        let entries = try bench.entries(from: nil)
        let now = HostTime.now.unixMilliseconds - AlertsBench.time(0).unixMilliseconds
        #expect(try bench.take(entries, at: Double(now) / 1000) == [])
    }

    // MARK: Missing fixes

    /// Fix 2 comes after 3 and 4: the crossing is found in the order of the log, once.
    @Test func aGapThatIsFilledInTimeChangesNoAlert() throws {
        let (bench, whole) = (try AlertsBench(), try AlertsBench())
        let entries = try bench.entries()
        try append(bench, [0, 1, 3, 4])
        #expect(try bench.take(entries, at: 120) == [])
        try append(bench, [2], heardAt: 150)
        #expect(try bench.take(entries, at: 150) == ["left"])
        try append(bench, 5..<11)
        #expect(try bench.take(entries, at: 310) == ["entered"])
        try append(whole, 0..<11)
        #expect(try whole.take(try whole.entries(), at: 310) == ["left", "entered"])
        // Another receiver, which had no gap, gives the same ids.
        #expect(whole.ids == bench.ids)
    }

    @Test func aGapThatLastsHoldsNoAlertBackForMoreThanTwoMinutes() throws {
        let bench = try AlertsBench()
        let entries = try bench.entries()
        try append(bench, [0, 1, 3, 4])
        #expect(try bench.take(entries, at: 120) == [])
        #expect(entries.nextDeadline(at: AlertsBench.time(120)) == AlertsBench.time(240).instant)
        #expect(try bench.take(entries, at: 239.9) == [])
        #expect(try bench.take(entries, at: 240) == ["left"] && bench.take(entries, at: 300) == [])
        // The missing fixes show the same crossing, which is not told again.
        try append(bench, [2], heardAt: 400)
        #expect(try bench.take(entries, at: 400) == [])
        try append(bench, 5..<11)
        #expect(try bench.take(entries, at: 401) == ["entered"])
    }

    /// The gap shows more crossings than the one that was told ahead.
    @Test func lateCrossingsAreToldInOrder() throws {
        let bench = try AlertsBench()
        let entries = try bench.entries()
        let distances: [Double] = [0, 0, 200, 200, 0, 0, 300, 300, 300]
        func append(_ sequences: [UInt32], heardAt received: Double) throws {
            for sequence in sequences { try bench.append(sequence, north: distances[Int(sequence)], at: 600 * Double(sequence), heardAt: received) }
        }
        try append([0, 1], heardAt: 600)
        #expect(try bench.take(entries, at: 600) == [])
        try append([7, 8], heardAt: 4800)
        #expect(try bench.take(entries, at: 4800) == [] && bench.take(entries, at: 4920) == ["left"])
        try append([2, 3, 4, 5, 6], heardAt: 5000)
        // One of the two departures is known.
        #expect(try bench.take(entries, at: 5000) == ["entered late", "left late"])
    }

    @Test func whatWasToldAheadIsNotToldAgainAfterARestart() throws {
        let bench = try AlertsBench()
        try append(bench, [0, 1, 3, 4])
        do {
            let entries = try bench.entries(as: "push")
            #expect(try bench.take(entries, at: 120) == [] && bench.take(entries, at: 240) == ["left"])
            try bench.store(entries, at: 241)
        }
        let entries = try bench.entries(as: "push")
        #expect(try bench.take(entries, at: 250) == [] && bench.take(entries, at: 390) == [])
        try append(bench, [2], heardAt: 400)
        try append(bench, 5..<11)
        #expect(try bench.take(entries, at: 400) == ["entered"])
    }

    // MARK: Restarts

    /// An alert comes again, with the same id, as long as it is not confirmed.
    @Test(arguments: 0..<14) func eachAlertComesUntilItIsConfirmed(confirmed: Int) throws {
        let bench = try AlertsBench()
        try append(bench, 0..<11)
        do {
            let entries = try bench.entries(as: "push")
            #expect(try bench.take(entries, at: 301, confirming: confirmed) == ["left", "entered"])
            try bench.store(entries, at: 301)
        }
        // Items are three fixes, an alert, six fixes, an alert and two fixes.
        let expected = confirmed < 4 ? ["left", "entered"] : confirmed < 11 ? ["entered"] : []
        // An alert whose fix is not confirmed comes again with it.
        let repeats = confirmed == 4 ? ["left", "entered"] : confirmed == 11 ? ["entered"] : expected
        #expect(try bench.take(try bench.entries(as: "push"), at: 302) == repeats)
        #expect(Set(bench.ids).count == 2)
    }

    /// Fixes are missing for up to a minute. A process that is killed at random, and loses what it has not confirmed and stored, gets each
    /// alert, and no other one.
    @Test func killsLoseNoAlert() throws {
        for seed in 0..<8 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            let whole = try AlertsBench()
            let bench = try AlertsBench()
            var received: [(sequence: Int, at: Double)] = []
            var missing: [Int] = []
            for sequence in 0..<220 {
                let time = 30 * Double(sequence)
                if random.chance(0.3) { missing.append(sequence) } else { received.append((sequence, time)) }
                if missing.first.map({ $0 + 2 <= sequence || random.chance(0.5) }) ?? false {
                    received += missing.map { ($0, time + 5) }
                    missing = []
                }
            }
            received += missing.map { ($0, 6700) }
            func north(_ sequence: Int) -> Double { sequence / 10 % 2 == 0 ? 0 : 300 }
            for sequence in 0..<220 { try whole.append(UInt32(sequence), north: north(sequence), at: 30 * Double(sequence)) }
            _ = try whole.take(try whole.entries(), at: 7000)
            var entries: StoredEntries? = try bench.entries(as: "push")
            var now = 0.0
            for (sequence, time) in received {
                now = max(now, time)
                try bench.append(UInt32(sequence), north: north(sequence), at: 30 * Double(sequence), heardAt: now)
                let reader = try entries ?? bench.entries(as: "push")
                entries = reader
                _ = try bench.take(reader, at: now, confirming: random.chance(0.3) ? Int(random.next() % 3) : .max)
                if random.chance(0.3) { try bench.store(reader, at: now) }
                if random.chance(0.2) { entries = nil }
            }
            // The next life gets the alerts that the former one has not confirmed.
            entries = nil
            _ = try bench.take(try bench.entries(as: "push"), at: 7000)
            let unknown = Set(bench.ids).subtracting(whole.ids)
            #expect(whole.ids.count == 21 && Set(whole.ids).isSubset(of: Set(bench.ids)) && unknown.isEmpty, "seed \(seed)")
        }
    }

    // MARK: Time

    @Test func silenceIsToldOnceAlsoOverARestart() throws {
        let bench = try AlertsBench("silent = 10m")
        try append(bench, 0..<2)
        do {
            let entries = try bench.entries(as: "push")
            #expect(try bench.take(entries, at: 31) == [])
            #expect(try bench.take(entries, at: 629) == [] && bench.take(entries, at: 630) == ["silent"])
            try bench.store(entries, at: 631)
        }
        let entries = try bench.entries(as: "push")
        #expect(try bench.take(entries, at: 5000) == [])
        try bench.append(2, north: 0, at: 6000)
        #expect(try bench.take(entries, at: 6000) == ["heard"])
    }

    @Test func oldAlertsCanBeLeftOut() throws {
        let bench = try AlertsBench()
        try append(bench, 0..<11, heardAt: 5000)
        let entries = try bench.entries { $0.longestAlertAge = 4_800_000 }
        // "left" is that of 90 s, and "entered" that of 270 s.
        #expect(try bench.take(entries, at: 5000) == ["entered late"])
    }

    // MARK: Events

    @Test func linesOfEventsMakeAlerts() throws {
        let bench = try AlertsBench()
        let collar = "\"collar\":\"\(collarA)\""
        func event(_ text: String) throws { try bench.appendEvent("{\"type\":\(text),\(collar)}") }
        try event("\"error\",\"unix_ms\":1700000001000,\"code\":\"location_update_failed\"")
        try event("\"error\",\"unix_ms\":1700000002000,\"code\":\"no_location_data\"")
        try event("\"error\",\"unix_ms\":1700000003000,\"code\":\"battery_low\"")
        try event("\"link\",\"unix_ms\":1700000004000,\"event\":\"restarted\"")
        try event("\"link\",\"unix_ms\":1700000005000,\"event\":\"heard\"")
        try event("\"stats\",\"unix_ms\":1700000006000")
        #expect(try bench.take(try bench.entries(), at: 10) == ["gnss_fault", "no_fix", "restarted"])
        #expect(
            try bench.take(try bench.entries([.alert, .link]), at: 10) == ["gnss_fault", "no_fix", "restarted", "event", "event"])
        // Events before the first start raise nothing.
        #expect(try bench.take(try bench.entries(from: 3), at: 10) == ["restarted"])
    }

    // MARK: Home Assistant

    /// A format that shows whether a collar is heard gets the silence of all times, and the newest fix at once, although older ones are
    /// missing.
    @Test func silenceIsAPartOfALiveFormat() throws {
        let bench = try AlertsBench("silent = 1m")
        try bench.append(0, north: 0, at: 0)
        try bench.append(1, north: 0, at: 90)
        let entries = try bench.entries(from: nil, [.fix, .link, .stats]) {
            $0.format.format = .homeassistant
            $0.read($0.writtenKinds)
        }
        #expect(try bench.take(entries, at: 100) == ["fix 0", "silent", "heard", "fix 1"])
        try bench.append(5, north: 0, at: 110)
        #expect(try bench.take(entries, at: 111) == ["fix 5"])
        #expect(try bench.take(entries, at: 200) == ["silent"])
        try bench.append(3, north: 0, at: 100, heardAt: 210)
        #expect(try bench.take(entries, at: 211) == ["heard", "fix 3"])
    }

    @Test func withoutLinksALiveFormatTellsNoSilence() throws {
        let bench = try AlertsBench("silent = 1m")
        try bench.append(0, north: 0, at: 0)
        let entries = try bench.entries(from: nil, [.fix, .stats]) {
            $0.format.format = .homeassistant
            $0.read($0.writtenKinds)
        }
        #expect(try bench.take(entries, at: 100) == ["fix 0"])
    }

    /// A reader must know which places are private before it writes its first line.
    @Test func theAnnotationsAreKnownFromTheFirstItemOn() throws {
        let bench = try AlertsBench()
        try append(bench, 0..<1)
        let entries = try bench.entries([.fix, .alert])
        #expect(entries.next(at: AlertsBench.time(1)) != nil)
        let annotations = try #require(entries.changedAnnotations(at: AlertsBench.time(1).instant))
        #expect(annotations.places.places.map(\.isPrivate) == [true])
        #expect(entries.changedAnnotations(at: AlertsBench.time(1).instant) == nil)
    }

    @Test func anEditedPlaceCountsForTheNextFix() throws {
        let bench = try AlertsBench()
        let entries = try bench.entries()
        try append(bench, 0..<2)
        #expect(try bench.take(entries, at: 31) == [])
        try bench.writePlaces(radius: 100)
        try append(bench, 2..<3)
        #expect(try bench.take(entries, at: 61) == ["place_changed"])
        #expect(entries.changedAnnotations(at: AlertsBench.time(61).instant) != nil)
    }

    @Test func anotherAnimalsCollarRaisesNothing() throws {
        let bench = try AlertsBench()
        try append(bench, 0..<11)
        #expect(try bench.take(try bench.entries { $0.wanted = .collar(collarB) }, at: 301) == [])
    }
}
