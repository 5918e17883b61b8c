import CollarBridge
import CollarReceiver
import CollarTracking

/// The names of animals, for commands that take the id of a collar. The files are read when a name is needed.
final class AnimalNames {
    /// The most names or ids that a message lists.
    private static let listLimit = 8

    private var files = AnimalFiles(paths: ConfigurationFiles.paths(of: "animals"))

    /// Which animal wears which collar. Files that cannot be used are told, and left out.
    func tellingFaults() -> DeploymentTable {
        _ = files.refresh()
        for fault in files.faults { StandardError.say(fault.message.reason, remedy: fault.message.remedy) }
        return files.deployments
    }

    /// The files with their animals.
    /// - Throws: a failure if one of them cannot be used.
    func registers() throws(CommandFailure) -> [(path: String, register: AnimalRegister)] {
        _ = files.refresh()
        if let fault = files.faults.first { throw CommandFailure(fault) }
        return files.registers
    }

    /// The collar with an id, or the one that the animal with a name wears now.
    /// - Parameter what: what the user gave the text as, for messages.
    /// - Throws: a usage failure if there is no such animal, or if it wears no collar now, or several.
    func collar(_ text: String, as what: String) throws(CommandFailure) -> UInt64 {
        if let deviceID = CollarID.deviceID(text) { return deviceID }
        let table = try table(of: text, as: what)
        let now = WallClock.unixMilliseconds
        let worn = CollarSelection.animal(name: text, table).deviceIDs?.filter { table.wearer(of: $0, at: now)?.name == text } ?? []
        if worn.count == 1 { return worn[0] }
        let all = AnimalNames.list((worn.isEmpty ? table.deployments(named: text).map(\.deviceID) : worn).map { MessageDescription.hexadecimal($0) })
        throw worn.isEmpty
            ? CommandFailure(.usage, "\(what) \(text): the animal wears no collar now", remedy: "it wore: \(all.isEmpty ? "none" : all)")
            : CommandFailure(
                .usage, "\(what) \(text): the animal wears \(worn.count) collars now", remedy: "give the id of one of them: \(all)")
    }

    /// The collar with an id, or all that the animal with a name wears or wore.
    func selection(_ text: String, as what: String) throws(CommandFailure) -> CollarSelection {
        if let deviceID = CollarID.deviceID(text) { return .collar(deviceID) }
        return .animal(name: text, try table(of: text, as: what))
    }

    /// Which animal wears which collar, where there is an animal with a name.
    private func table(of name: String, as what: String) throws(CommandFailure) -> DeploymentTable {
        let names = try registers().flatMap { $0.register.animals.map(\.name) }
        guard names.contains(name) else {
            throw CommandFailure(
                .usage, "\(what) \(name): expected \(CollarID.form), or the name of an animal"
                    + Suggestion.text(for: name, among: names),
                remedy: names.isEmpty
                    ? "no animal has a name yet; give it one: collar-link name ID NAME" : "animals are: \(AnimalNames.list(names))")
        }
        return files.deployments
    }

    /// The first of some words, with commas.
    static func list(_ words: [String]) -> String {
        (words.prefix(listLimit) + (words.count > listLimit ? ["…"] : [])).joined(separator: ", ")
    }
}

extension ParsedArguments {
    /// `--collar ID|NAME`: the one collar that is meant now; nil if the option is absent.
    func wantedCollar() throws(CommandFailure) -> UInt64? {
        guard let text = value("--collar") else { return nil }
        return try AnimalNames().collar(text, as: "--collar")
    }

    /// `--collar ID|NAME`: what a command is about that reads what is stored. A name means every collar that the animal wears or
    /// wore, each for its time.
    func wantedCollars(_ animals: AnimalNames = AnimalNames()) throws(CommandFailure) -> CollarSelection {
        guard let text = value("--collar") else { return .all }
        return try animals.selection(text, as: "--collar")
    }
}
