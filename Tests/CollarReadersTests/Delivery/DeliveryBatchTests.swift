import CollarARQ
import CollarFormats
import CollarWire
import Testing

@testable import CollarJournal
@testable import CollarReaders

/// The parts of a batch, by collar and by animal, and the words of the command.
@Suite struct DeliveryBatchTests {
    private static let handover: Int64 = 1_700_000_000_000

    /// Athena wears collar A until the handover, then Bella does. Collar B is worn by Athena from the handover on.
    private static let animals = DeploymentTable([
        Deployment(animal: Animal(name: "Athena"), deviceID: collarA, endUnixMilliseconds: handover),
        Deployment(animal: Animal(name: "Bella"), deviceID: collarA, beginUnixMilliseconds: handover),
        Deployment(animal: Animal(name: "Athena"), deviceID: collarB, beginUnixMilliseconds: handover),
    ])

    private func batch(_ words: String..., format: OutputFormat = .json) throws -> DeliveryBatch {
        var options = FormatOptions()
        options.format = format
        options.deployments = DeliveryBatchTests.animals
        return DeliveryBatch(try #require(DeliveryCommand(words: words)), options)
    }

    private func fix(_ sequence: UInt32, at time: Int64 = handover, of collar: DeviceID = collarA, isWanted: Bool = true) -> StoredItem {
        let fix = Fix(
            sequence: sequence, unixMilliseconds: time, latitudeSteps: 1, longitudeSteps: 2, horizontalAccuracy: AccuracyCode(rawValue: 56))
        let content = EmittedEntry.Content.fix(JournaledFix(logID: 1, receivedUnixMilliseconds: time + 9_000_000, fix: fix))
        return .entry(EmittedEntry(content: content, deviceID: collar, receipt: receipt(sequence)), isWanted: isWanted)
    }

    private func receipt(_ offset: UInt32) -> EmissionReceipt {
        EmissionReceipt(session: SessionID(index: 0), through: JournalPosition(segment: 1, offset: offset))
    }

    private func event(_ number: UInt32, at time: Int64? = handover, of collar: String? = nil) -> StoredItem {
        var line = "{\"type\":\"status\""
        if let time { line += ",\"unix_ms\":\(time)" }
        if let collar { line += ",\"collar\":\"\(collar)\"" }
        let bytes = Array("\(line),\"number\":\(number)}\n".utf8)
        return .event(EventLogReader.Line(bytes: bytes, end: EventPosition(file: 1, offset: number)))
    }

    private func keys(_ batch: DeliveryBatch) -> [[String]] { batch.parts.map { [$0.key.collar, $0.key.name, "\($0.count)"] } }

    private let idA = "000000000000000a"
    private let idB = "000000000000000b"

    @Test func anEventIsOfTheAnimalThatWoreTheCollarThen() throws {
        var batch = try batch("sink", "{name}")
        let last = DeliveryBatchTests.handover - 1
        for item in [event(1, at: last, of: idA), event(2, of: idA), event(3, at: last, of: idB), event(4, of: idB)] { batch.add(item) }
        #expect(keys(batch) == [["", "Athena", "2"], ["", "Bella", "1"], ["", idB, "1"]])
        #expect(String(decoding: batch.parts[0].bytes, as: UTF8.self).split(separator: "\n").map { $0.suffix(3) } == [":1}", ":4}"])
    }

    @Test func aFixIsOfTheAnimalThatWoreTheCollarThen() throws {
        var batch = try batch("sink", "{name}")
        let last = DeliveryBatchTests.handover - 1
        for item in [fix(1, at: last), fix(2), fix(3, at: last, of: collarB), fix(4, of: collarB), fix(5, of: 0xC)] { batch.add(item) }
        #expect(keys(batch) == [["", "Athena", "2"], ["", "Bella", "1"], ["", idB, "1"], ["", "000000000000000c", "1"]])
    }

    /// A message tells the time at which it was made, or else was received; a gap that at which it became known.
    @Test func messagesAndGapsAreOfTheAnimalThatWoreTheCollarThen() throws {
        let (last, second) = (DeliveryBatchTests.handover - 1, UInt32(DeliveryBatchTests.handover / 1000))
        func message(_ made: UInt32, received: Int64) throws -> EmittedEntry.Content {
            let data: [UInt8] = []
            let content = ApplicationMessage(kind: .notice, code: 3, unixSeconds: made, data: data.span)
            let message = CollarMessage(sequence: 1, content: try #require(content))
            return .message(JournaledMessage(logID: 1, receivedUnixMilliseconds: received, message: message))
        }
        let range = try #require(SequenceRange(1, 2))
        func gap(_ time: Int64) -> EmittedEntry.Content {
            .gap(GapChange(event: .missing, logID: 1, range: range, unixMilliseconds: time))
        }
        let contents = try [
            message(second - 1, received: last + 9000), message(second, received: last + 9000), message(0, received: last),
            message(0, received: last + 1), gap(last), gap(last + 1),
        ]
        var batch = try batch("sink", "{name}")
        for content in contents {
            batch.add(.entry(EmittedEntry(content: content, deviceID: collarA, receipt: receipt(1)), isWanted: true))
        }
        #expect(keys(batch) == [["", "Athena", "3"], ["", "Bella", "3"]])
    }

    @Test func fixesAndEventsOfOneKeyAreOnePart() throws {
        var batch = try batch("sink", "{collar}", "{name}")
        for item in [fix(1), event(2, of: idA), fix(3, of: collarB), event(4), event(5, of: idB), fix(6)] { batch.add(item) }
        #expect(keys(batch) == [[idA, "Bella", "3"], [idB, "Athena", "2"], ["none", "none", "1"]])
        #expect(batch.count == 6)
    }

    @Test func eachPlaceholderSplitsByItsOwn() throws {
        let items = [fix(1), fix(2, at: DeliveryBatchTests.handover - 1), fix(3, of: collarB), event(4, of: idA), event(5)]
        let expected: [(String, [[String]])] = [
            ("{collar}", [[idA, "", "3"], [idB, "", "1"], ["none", "", "1"]]),
            ("{name}", [["", "Bella", "2"], ["", "Athena", "2"], ["", "none", "1"]]),
            ("{count}", [["", "", "5"]]), ("plain", [["", "", "5"]]),
        ]
        for (word, keys) in expected {
            var batch = try batch("sink", word)
            for item in items { batch.add(item) }
            #expect(self.keys(batch) == keys, "\(word)")
        }
    }

    @Test func anEventWithoutATimeOrWithAnUnknownCollarIsDeliveredToo() throws {
        var batch = try batch("sink", "{name}")
        for item in [event(1, at: nil, of: "nonsense"), event(2, of: "00000000000000ff")] { batch.add(item) }
        #expect(keys(batch) == [["", "nonsense", "1"], ["", "00000000000000ff", "1"]])
    }

    @Test func receiptsAreThoseOfAllItemsInTheirOrder() throws {
        var batch = try batch("sink", "{collar}")
        for item in [fix(1, isWanted: false), event(2), fix(3, of: collarB), fix(4, isWanted: false)] { batch.add(item) }
        #expect(
            batch.receipts == [
                .entry(receipt(1), hasID: true), .event(EventPosition(file: 1, offset: 2)), .entry(receipt(3), hasID: true),
                .entry(receipt(4), hasID: true),
            ])
        #expect(batch.count == 2)
        batch.end()
        #expect(keys(batch) == [["none", "", "1"], [idB, "", "1"]])
        batch.removeFirstPart()
        #expect(keys(batch) == [[idB, "", "1"]])
        #expect(batch.receipts.count == 4)
    }

    @Test(arguments: [OutputFormat.csv, .geojson, .geojsonTrack, .gpx]) func everyPartIsAWholeDocument(format: OutputFormat) throws {
        var both = try batch("sink", "{collar}", format: format)
        for item in [fix(1), fix(2, of: collarB), fix(3)] { both.add(item) }
        both.end()
        for (part, items) in zip(both.parts, [[fix(1), fix(3)], [fix(2, of: collarB)]]) {
            var alone = try batch("sink", format: format)
            for item in items { alone.add(item) }
            alone.end()
            #expect(part.bytes == alone.parts.first?.bytes)
        }
    }

    @Test func aPartOfWhichTheFormatLeavesEverythingOutIsNone() throws {
        var batch = try batch("sink", "{collar}", format: .homeassistant)
        let fix = Fix(sequence: 1, unixMilliseconds: DeliveryBatchTests.handover, latitudeSteps: 1, longitudeSteps: 2)
        let content = EmittedEntry.Content.fix(JournaledFix(logID: 1, receivedUnixMilliseconds: 0, fix: fix))
        batch.add(.entry(EmittedEntry(content: content, deviceID: collarA, receipt: receipt(1)), isWanted: true))
        batch.add(self.fix(2, of: collarB))
        batch.end()
        #expect(keys(batch) == [[idB, "", "1"]])
        #expect(batch.leftOutFixCount == 1)
        #expect(batch.receipts.count == 2)
    }

    // MARK: Words

    private func words(_ words: String..., collar: String = "C", name: String = "N", count: Int = 7) throws -> [String] {
        try #require(DeliveryCommand(words: words)).words(collar: collar, name: name, count: count)
    }

    @Test func placeholdersAreReplacedInEveryWord() throws {
        #expect(try words("{name}", "{collar}-{collar}.{count}", "x{name}y{count}", "--n={count}") == ["N", "C-C.7", "xNy7", "--n=7"])
        #expect(try words("sink", "{Name}", "{ name}", "{}", "{name", "name}", "{{name}}", "{other}{count}") == [
            "sink", "{Name}", "{ name}", "{}", "{name", "name}", "{N}", "{other}7",
        ])
    }

    @Test func whatIsPutInIsNotSearched() throws {
        #expect(try words("sink", "{name}/{collar}", collar: "{count}", name: "{collar}") == ["sink", "{collar}/{count}"])
        #expect(try words("sink", "{{name}count}", name: "x") == ["sink", "{xcount}"])
    }

    @Test(arguments: [
        ("Mr. Whiskers", "Mr. Whiskers"), ("a/b", "a%2Fb"), ("../x", "%2E.%2Fx"), ("-rf", "%2Drf"), (".", "%2E"), ("a-b.c", "a-b.c"),
        ("50%", "50%25"), ("%2F", "%252F"), ("/", "%2F"), ("Ωmega", "Ωmega"), ("", ""),
    ])
    func aNameIsOneArgumentThatLeadsNowhere(name: String, argument: String) throws {
        #expect(try words("sink", "{name}", name: name) == ["sink", argument])
    }

    @Test func aCommandHasAWord() throws {
        #expect(DeliveryCommand(words: []) == nil)
        let command = try #require(DeliveryCommand(words: ["{name}", "x"]))
        #expect(command.name == "{name}" && command.splitsByName && !command.splitsByCollar)
    }
}
