import CollarFormats
import CollarLink
import CollarWire
import FoundationEssentials
import Testing

/// Whether an independent validator, Debian's python3-jsonschema, is installed.
private let hasValidator = shellOutput("python3 -c 'import jsonschema' 2>/dev/null") != nil

@Suite("The schema of a fix line", .enabled(if: hasValidator, "python3-jsonschema is not installed"))
struct FixSchemaTests {
    /// One character for each line, in order: y if the line is valid, n if it is not.
    private func verdicts(_ lines: String) throws -> String {
        let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        let schema = folder.appending(path: "../../../Protocol/schema/fix.schema.json").path
        let file = FileManager.default.temporaryDirectory.appending(path: "fix-schema-\(UUID().uuidString).ndjson").path
        try Data(lines.utf8).write(to: URL(filePath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let program = """
            import json, jsonschema
            schema = json.load(open("\(schema)"))
            jsonschema.Draft202012Validator.check_schema(schema)
            check = jsonschema.Draft202012Validator(schema)
            print("".join("y" if check.is_valid(json.loads(line)) else "n" for line in open("\(file)")))
            """
        let output = try #require(shellOutput("python3 -W ignore -c '\(program)'"))
        return String(decoding: output, as: UTF8.self).filter { $0 != "\n" }
    }

    @Test("Every kind of line is valid")
    func valid() throws {
        var bare = received()
        bare.fix = Fix(sequence: 0, unixMilliseconds: -5, latitudeSteps: -9_000_000, longitudeSteps: 18_000_000)
        var rich = received()
        rich.signal = RadioSignal(strengthDBm: -120, signalToNoiseTenthsDB: -75)
        rich.fix.heading = AngleCode(steps: 179)
        rich.fix.verticalAccuracy = AccuracyCode(rawValue: 126)
        rich.fix.horizontalAccuracy = AccuracyCode(rawValue: 0)
        let lines = FixLineWriter.Flavour.allCases.flatMap { flavour in
            [received(), bare, rich].map { line($0, flavour: flavour) }
        }
        let named = document(.json, [knownFix(), unknownFix()], worn(by: awkwardName))
        let members = [
            ",\"place\":\"home\"", ",\"place\":\"home\",\"private\":true,\"distance_m\":0", ",\"distance_m\":12.3,\"bearing_deg\":359",
        ]
        let located = members.map { line(received()).replacing("}\n", with: "\($0)}\n") }
        #expect(try verdicts(lines.joined() + named + located.joined()) == "yyyyyyyyyyy")
    }

    @Test("What is wrong is not valid")
    func invalid() throws {
        let good = line(received())
        let changes = [
            ("\"alt_m\"", "\"altitude\""), ("37.7749", "90.1"), ("-122.4194", "180.5"), ("\"collar\",\"coord", "\"dog\",\"coord"),
            ("5.268", "-2"), ("\"v_accuracy_m\":-1", "\"v_accuracy_m\":null"), ("\"seq\":42", "\"seq\":42.5"),
            ("\"seq\":42,", ""), ("0123456789abcdef", "0123456789ABCDEF"), ("12345678,", "67108864,"),
            ("-8cde-", "-4cde-"), ("\"type\":\"fix\"", "\"type\":\"gap\""), (":180,", ":181,"), (":85,", ":101,"),
            ("}\n", ",\"snr_db\":1}\n"), ("}\n", ",\"lat\":1,\"lon\":2}\n"),
            ("}\n", ",\"name\":null}\n"), ("}\n", ",\"private\":true}\n"), ("}\n", ",\"bearing_deg\":1}\n"),
            ("}\n", ",\"distance_m\":1,\"bearing_deg\":360}\n"),
        ]
        let lines = changes.map { good.replacing($0.0, with: $0.1) }
        for (changed, change) in zip(lines, changes) { #expect(changed != good, "\(change)") }
        #expect(try verdicts(lines.joined()) == String(repeating: "n", count: changes.count))
    }
}
