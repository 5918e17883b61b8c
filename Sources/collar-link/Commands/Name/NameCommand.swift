import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarWire
import LinuxSystem

enum NameCommand: Command {
    static let spec = CommandSpec(
        name: "name",
        title: "give animals names, and record which collar each wears",
        synopsis: """
            collar-link name [NAME|ID] [-F text|json]
            collar-link name ID NAME [--from TIME] [--until TIME]
            collar-link name NAME [--species NAME] [--notes TEXT]
            collar-link name NAME|ID --end [--until TIME]
            collar-link name NAME --rename NEW
            collar-link name NAME --remove
            """,
        summary: """
            Records which animal wears which collar. Lines then contain the name of the animal that wore the collar at the time of the
            fix, and `--collar` accepts the name.

            forms:
              name                  list the animals and their collars
              name NAME, name ID    list this animal, or who wore this collar
              name ID NAME          NAME wears this collar from now on, or from the
                                    beginning if the collar is new; the former wearer
                                    no longer wears it
              name ID NAME --from T --until T
                                    NAME wears it during this time, which replaces an
                                    overlapping time of NAME; with --until, the times of
                                    other animals do not change
              name NAME --species S --notes T
                                    describe the animal
              name NAME --end       the animal no longer wears its collar
              name ID --end         nobody wears this collar any longer
              name NAME --rename N  change the name
              name NAME --remove    forget the animal and its collars
            """,
        options: [
            OptionSpec("--from", value: "TIME", is: "start of the time in which the animal wears the collar"),
            OptionSpec("--until", value: "TIME", is: "end of this time: the first moment at which the collar is not worn"),
            OptionSpec("--species", value: "NAME", is: "scientific name of the species, such as 'Felis catus'"),
            OptionSpec("--notes", value: "TEXT", is: "any other description"),
            OptionSpec("--end", is: "the collar is no longer worn, from now on or from `--until`"),
            OptionSpec("--rename", value: "NAME", is: "new name of the animal"),
            OptionSpec("--remove", is: "remove the animal"),
            OptionSpec("-F", "--format", value: "text|json", is: "format of the list (default text)"),
        ],
        maximumOperandCount: 2,
        notes: """
            ID is the id of a collar: 16 hexadecimal digits. For a known collar, the first digits are enough (at least 4), except with `--end`.

            values of TIME:
            \(TimeArgument.table)

            animals file:
            The names are in ~/.config/collar-link/animals ($XDG_CONFIG_HOME/collar-link/animals). You can edit this file, up to 1 MiB.
            `name` keeps its comments, blank lines, spaces and order. For example:
              # my cats
              [animal Athena]
              species = Felis catus
              notes = grey, shy         # a comment starts a line or follows a space
              wears = 910a2b3c4d5e6f70 from 2026-05-01 until 2026-09-30T12:00:00Z
              wears = 910a2b3c4d5e6f71 from 2026-10-01

            /etc/collar-link/animals has the same format. If the two files contradict each other, your file counts.

            `run` reads a changed file within a second. If a line is wrong, it reports the line and keeps the names that it had.

            examples:
              collar-link name 910a2b3c4d5e6f70 Athena --species 'Felis catus'
              collar-link name 910a2b3c4d5e6f71 Athena --from 2026-10-01
              collar-link history --collar Athena

            exit codes:
              0   done
              64  wrong usage, or no such animal
              73  the file cannot be written
              74  I/O error
              77  no permission
              78  a line of a file is wrong
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let (task, options) = try task(of: arguments)
        for option in spec.options.map(\.key) where arguments.has(option) && !options.contains(option) {
            let help = "Leave out `\(option)`; `collar-link name --help` lists what goes with what."
            guard let other = options.first(where: arguments.has) else {
                throw CommandFailure(.usage, "`\(option)` does not go with this.", remedy: help)
            }
            throw CommandFailure.excluding(other, option, remedy: help)
        }
        guard let task else {
            let isJSON = try arguments.choice("--format", of: ["text": false, "json": true]) ?? false
            let names = AnimalNames()
            let list = AnimalList(names.registers, of: arguments.operands.first)
            if let word = arguments.operands.first, list.isEmpty {
                throw CommandFailure(
                    .usage, "There is no animal and no collar '\(word)'.",
                    remedy: "To give a collar a name: `collar-link name ID NAME`. `collar-link name` lists all.")
            }
            try StandardOutput.write(list.bytes(isJSON: isJSON))
            return names.exitCode
        }
        guard let path = StandardPaths.userConfigurationFile(named: "animals") else {
            throw CommandFailure(
                .configuration, "There is no place for the names: neither XDG_CONFIG_HOME nor HOME is set.", remedy: "Set HOME.")
        }
        try run(task, on: path)
        return .clean
    }

    private enum Task {
        case put(DeviceID, name: String, from: Int64?, until: Int64?, species: String?, notes: String?)
        case describe(name: String, species: String?, notes: String?)
        case end(nameOrID: String, at: Int64)
        case rename(name: String, to: String)
        case remove(name: String)
    }

    /// The present time in milliseconds since 1970, to the second: it is written into a file that people read.
    private static var now: Int64 { WallClock.unixMilliseconds / 1000 * 1000 }

    /// The task, and the options that go with it; nil for the list.
    private static func task(of arguments: ParsedArguments) throws(CommandFailure) -> (Task?, options: [String]) {
        let words = arguments.operands
        guard let first = words.first else {
            let forms: KeyValuePairs = [
                "--end": "an animal or a collar: `collar-link name NAME|ID --end`",
                "--rename": "an animal: `collar-link name NAME --rename NEW`", "--remove": "an animal: `collar-link name NAME --remove`",
            ]
            if let (option, form) = forms.first(where: { arguments.has($0.key) }) { throw CommandFailure(.usage, "`\(option)` needs \(form).") }
            return (nil, ["--format"])
        }
        let species = arguments.value("--species")
        let notes = arguments.value("--notes")
        if words.count == 2 {
            let directory = (try? arguments.readableStateDirectory()) ?? StandardPaths.serviceStateDirectory
            let known = try AnimalNames().collar(beginningWith: first, stateDirectory: directory)
            let deviceID = if let known { known } else { try collar(first, for: words[1]) }
            let task = Task.put(
                deviceID, name: words[1], from: try time("--from", arguments), until: try time("--until", arguments), species: species,
                notes: notes)
            return (task, ["--from", "--until", "--species", "--notes"])
        }
        if arguments.has("--remove") { return (.remove(name: first), ["--remove"]) }
        if arguments.has("--end") { return (.end(nameOrID: first, at: try time("--until", arguments) ?? now), ["--end", "--until"]) }
        if let new = arguments.value("--rename") { return (.rename(name: first, to: new), ["--rename"]) }
        guard species != nil || notes != nil else { return (nil, ["--format"]) }
        return (.describe(name: first, species: species, notes: notes), ["--species", "--notes"])
    }

    private static func collar(_ text: String, for name: String) throws(CommandFailure) -> DeviceID {
        if let deviceID = CollarID.deviceID(text) { return deviceID }
        // With a name, it would be unclear whether the animal or its collar is to get the other name.
        let isAnimal = AnimalNames().registers.contains { $0.register.animals.contains { $0.name == text } }
        throw CommandFailure(
            .usage, "'\(text)' is not the id of a collar: give \(CollarID.form) before '\(name)'.",
            remedy: isAnimal
                ? "To give the animal another name: `\(ShellCommand("collar-link", "name", text, "--rename", name).text)`."
                : "The lines of `collar-link history` have the id as \"collar\".")
    }

    private static func time(_ option: String, _ arguments: ParsedArguments) throws(CommandFailure) -> Int64? {
        guard let text = arguments.value(option) else { return nil }
        guard let time = TimeArgument.unixMilliseconds(text, now: now) else {
            throw CommandFailure(
                .usage, "`\(option)` takes a time, not '\(text)'.",
                remedy: TimeArgument.remedy(forMilliseconds: text) ?? "It takes \(TimeArgument.forms).")
        }
        return time
    }

    private static func change(
        _ path: String, _ body: (inout AnimalRegister) throws(AnimalRegisterError) -> Void
    ) throws(CommandFailure) {
        try EditedFileChange(path: path).run { () throws(CommandFailure) in
            var register: AnimalRegister
            do throws(EditedFileFault) { register = try AnimalRegister.contents(of: path) } catch { throw CommandFailure(error) }
            do throws(AnimalRegisterError) { try body(&register) } catch {
                throw CommandFailure(error.line == nil ? .usage : .configuration, error.message(path: path))
            }
            return register.content
        }
    }

    private static func run(_ task: Task, on path: String) throws(CommandFailure) {
        var ended: String?
        var register = AnimalRegister()
        try change(path) { (changed) throws(AnimalRegisterError) in
            switch task {
            case .put(let deviceID, let name, let begin, let end, let species, let notes):
                ended = try changed.put(deviceID, on: name, from: begin, until: end, now: now)
                try changed.describe(name, species: species, notes: notes)
            case .describe(let name, let species, let notes): try changed.describe(name, species: species, notes: notes)
            case .end(let word, let time):
                if let deviceID = CollarID.deviceID(word) {
                    try changed.endDeployment(of: deviceID, at: time)
                } else {
                    try changed.endDeployment(of: word, at: time)
                }
            case .rename(let name, let new): try changed.rename(name, to: new)
            case .remove(let name): try changed.remove(name)
            }
            register = changed
        }
        guard case .put(let deviceID, let name, _, _, _, _) = task else { return }
        if let ended {
            let end = register.animals.first { $0.name == ended }?.wearings.last { $0.deviceID == deviceID }?.endUnixMilliseconds
            StandardError.say("\(ended) wore the collar until \(CalendarTime.text(unixMilliseconds: end ?? now)).")
        }
        let others = (register.animals.first { $0.name == name }?.wearings ?? []).filter {
            $0.deviceID != deviceID && $0.endUnixMilliseconds == nil
        }
        for other in others {
            let id = "\(other.deviceID)"
            StandardError.say("\(name) wears collar \(id), too.", remedy: "If it no longer does: `collar-link name \(id) --end`.")
        }
    }
}

/// The list of animals that `collar-link name` prints: a row for each collar that an animal wears or wore.
struct AnimalList {
    fileprivate struct Row {
        let animal: RegisteredAnimal
        /// Nil for an animal without a collar.
        let wearing: RegisteredAnimal.Wearing?
        let path: String
    }

    private let rows: [Row]

    /// - Parameter word: the animal or the id of the collar that is listed; nil for all.
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

    var isEmpty: Bool { rows.isEmpty }

    /// The list as lines of JSON, which `Protocol/schema/animal.schema.json` describes, or as a table.
    func bytes(isJSON: Bool) -> [UInt8] { isJSON ? rows.flatMap(\.line) : Array(table.utf8) }

    private var table: String {
        rows.isEmpty ? "" : TextTable([["NAME", "COLLAR", "FROM", "UNTIL", "SPECIES"]] + rows.map(\.cells)).text
    }
}

/// Rows of cells, in columns that are as wide as their widest cells.
struct TextTable {
    private let cells: [[String]]

    /// - Parameter cells: the rows, of as many cells as the first one.
    init(_ cells: [[String]]) { self.cells = cells }

    var text: String {
        let widths = (cells.first ?? []).indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
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
            animal.name, wearing.map { $0.deviceID.description } ?? "-", text(wearing?.beginUnixMilliseconds),
            text(wearing?.endUnixMilliseconds), animal.species ?? "-",
        ]
    }

    fileprivate var line: [UInt8] {
        var object = JSONLine(type: "animal")
        object.add("name", animal.name)
        object.add("species", animal.species)
        object.add("notes", animal.notes)
        object.add("collar", wearing.map { $0.deviceID.description })
        object.add("from_unix_ms", wearing?.beginUnixMilliseconds)
        object.add("until_unix_ms", wearing?.endUnixMilliseconds)
        object.add("file", path)
        return object.line
    }
}
