import CollarFormats
import CollarReceiver
import CollarConfiguration

/// The list of animals that `collar-link name` prints: a row for each collar that an animal wears or wore.
struct AnimalList {
    fileprivate struct Row {
        let animal: RegisteredAnimal
        /// Nil for an animal without a collar.
        let wearing: RegisteredAnimal.Wearing?
        let path: String
    }

    private let rows: [Row]

    /// - Parameters:
    ///   - registers: the files with their animals.
    ///   - word: the animal or the id of the collar that is listed; nil for all.
    init(_ registers: [(path: String, register: AnimalRegister)], of word: String? = nil) {
        let all = registers.flatMap { path, register in
            register.animals.flatMap { animal in
                (animal.wearings.isEmpty ? [nil] : animal.wearings.map { $0 }).map { Row(animal: animal, wearing: $0, path: path) }
            }
        }
        guard let word else {
            rows = all
            return
        }
        let deviceID = CollarID.deviceID(word)
        rows = all.filter { row in row.animal.name == word || deviceID != nil && row.wearing?.deviceID == deviceID }
    }

    /// Whether nothing is listed.
    var isEmpty: Bool { rows.isEmpty }

    /// The list as lines of JSON, which `Protocol/schema/animal.schema.json` describes, or as a table.
    func bytes(isJSON: Bool) -> [UInt8] { isJSON ? rows.flatMap(\.line) : Array(table.utf8) }

    private var table: String {
        guard !rows.isEmpty else { return "" }
        let cells = [["NAME", "COLLAR", "FROM", "UNTIL", "SPECIES"]] + rows.map(\.cells)
        let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
            return String(padded.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}

extension AnimalList.Row {
    fileprivate var cells: [String] {
        func text(_ time: Int64?) -> String { time.map { CalendarTime.text(unixMilliseconds: $0) } ?? "-" }
        return [
            animal.name, wearing.map { MessageDescription.hexadecimal($0.deviceID) } ?? "-", text(wearing?.beginUnixMilliseconds),
            text(wearing?.endUnixMilliseconds), animal.species ?? "-",
        ]
    }

    fileprivate var line: [UInt8] {
        var object = JSONLine(type: "animal")
        object.add("name", animal.name)
        object.add("species", animal.species)
        object.add("notes", animal.notes)
        object.add("collar", wearing.map { MessageDescription.hexadecimal($0.deviceID) })
        object.add("from_unix_ms", wearing?.beginUnixMilliseconds)
        object.add("until_unix_ms", wearing?.endUnixMilliseconds)
        object.add("file", path)
        return object.line
    }
}
