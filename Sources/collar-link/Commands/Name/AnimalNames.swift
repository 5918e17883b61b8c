import CollarFormats
import CollarErrors
import CollarJournal
import CollarConfiguration
import CollarWire
import LinuxSystem

/// The names of animals, for commands that take the id of a collar. The files are read when a name is needed.
final class AnimalNames {
    /// The most names or ids that a message lists.
    private static let listLimit = 8

    private var files = AnnotationFiles(animals: StandardPaths.configurationFiles(named: "animals"), places: StandardPaths.configurationFiles(named: "places"))
    /// The faults that were found and not told yet.
    private var untold: [EditedFileFault] = []

    /// Which animal wears which collar. Files that cannot be used are told once, and left out.
    func tellingFaults() -> DeploymentTable {
        refresh()
        for fault in untold { StandardError.say(fault.message) }
        untold = []
        return files.annotations.deployments
    }

    /// The places, too. A command that writes positions does not start with a file of places that cannot be used: it would show what
    /// a private place hides.
    func annotations() throws(CommandFailure) -> Annotations {
        _ = tellingFaults()
        if let fault = files.faults.first(where: { $0.code == .placesUnusable }) { throw CommandFailure(fault) }
        return files.annotations
    }

    private func refresh() { untold += (files.refresh() ?? []).filter { $0.code != .placesUnusable } }

    /// The files with their animals. Files that cannot be used are told, and have none.
    var registers: [(path: String, register: AnimalRegister)] {
        _ = tellingFaults()
        return files.registers
    }

    /// The exit code of the first file that cannot be used.
    var exitCode: ExitCode { files.faults.first { $0.code != .placesUnusable }?.exitCode ?? .clean }

    /// The collar whose id begins with these digits, among those with a name and those that have a journal; nil where there is none, and
    /// where the text is the name of an animal.
    func collar(beginningWith text: String, stateDirectory: String) throws(CommandFailure) -> DeviceID? {
        guard CollarID.isPrefix(text) else { return nil }
        let registers = registers
        guard !registers.contains(where: { $0.register.animals.contains { $0.name == text } }) else { return nil }
        // Where the directory is missing or may not be read, the command itself says so.
        let stored = (try? JournalDirectory.knownCollars(stateDirectory: stateDirectory)) ?? []
        let worn = registers.flatMap { $0.register.animals.flatMap { $0.wearings.map(\.deviceID) } }
        let found = Set(stored + worn).filter { $0.description.hasPrefix(text.lowercased()) }.sorted()
        guard found.count <= 1 else {
            throw CommandFailure(
                .usage, "The ids of \(found.count) collars begin with '\(text)'.",
                remedy: "Give more digits: \(AnimalNames.list(found.map { "\($0)" })).")
        }
        return found.first
    }

    /// The collar with an id, or the one that the animal with a name wears now.
    /// - Parameter what: what the user gave the text as, for messages.
    func collar(_ text: String, as what: String) throws(CommandFailure) -> DeviceID {
        if let deviceID = CollarID.deviceID(text) { return deviceID }
        let table = try table(of: text, as: what)
        let now = WallClock.unixMilliseconds
        let worn = CollarSelection.animal(name: text, table).deviceIDs?.filter { table.wearer(of: $0, at: now)?.name == text } ?? []
        if worn.count == 1 { return worn[0] }
        let all = AnimalNames.list((worn.isEmpty ? table.deployments(named: text).map(\.deviceID) : worn).map(\.description))
        throw worn.isEmpty
            ? CommandFailure(.usage, "The animal '\(text)' wears no collar now.", remedy: "It wore: \(all.isEmpty ? "none" : all).")
            : CommandFailure(
                .usage, "The animal '\(text)' wears \(worn.count) collars now.", remedy: "Give the id of one of them: \(all).")
    }

    /// The collar with an id, or all that the animal with a name wears or wore.
    func selection(_ text: String, as what: String) throws(CommandFailure) -> CollarSelection {
        if let deviceID = CollarID.deviceID(text) { return .collar(deviceID) }
        return .animal(name: text, try table(of: text, as: what))
    }

    /// Which animal wears which collar, where there is an animal with a name.
    private func table(of name: String, as what: String) throws(CommandFailure) -> DeploymentTable {
        refresh()
        let names = files.registers.flatMap { $0.register.animals.map(\.name) }
        guard names.contains(name) else {
            // The name may be in the file that cannot be used.
            if let fault = untold.first { throw CommandFailure(fault) }
            throw CommandFailure(
                .usage, "`\(what)` takes \(CollarID.form) or the name of an animal, not '\(name)'."
                    + Suggestion.text(for: name, among: names),
                remedy: names.isEmpty
                    ? "No animal has a name yet; give it one: `collar-link name ID NAME`." : "Animals are: \(AnimalNames.list(names)).")
        }
        return tellingFaults()
    }

    /// The first of some words, with commas.
    static func list(_ words: [String]) -> String {
        (words.prefix(listLimit) + (words.count > listLimit ? ["…"] : [])).joined(separator: ", ")
    }
}

extension ParsedArguments {
    /// `--collar ID|NAME`: the one collar that is meant now; nil if the option is absent.
    /// - Parameter takesPrefix: whether the beginning of an id is enough. It is not for requests that cannot be undone.
    func wantedCollar(takesPrefix: Bool = true) throws(CommandFailure) -> DeviceID? {
        guard let text = value("--collar") else { return nil }
        let animals = AnimalNames()
        if takesPrefix, let deviceID = try collar(beginningWith: text, animals) { return deviceID }
        return try animals.collar(text, as: "--collar")
    }

    private func collar(beginningWith text: String, _ animals: AnimalNames) throws(CommandFailure) -> DeviceID? {
        try animals.collar(beginningWith: text, stateDirectory: try readableStateDirectory())
    }

    /// `--collar ID|NAME`, or another option: what a command is about that reads what is stored. A name means every collar that the
    /// animal wears or wore, each for its time.
    func wantedCollars(_ animals: AnimalNames = AnimalNames(), option: String = "--collar") throws(CommandFailure) -> CollarSelection {
        guard let text = value(option) else { return .all }
        if let deviceID = try collar(beginningWith: text, animals) { return .collar(deviceID) }
        return try animals.selection(text, as: option)
    }
}
