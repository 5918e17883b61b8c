import CollarBridge
import CollarJournal
import CollarReceiver
import CollarWire

/// `collar-link key`: the keys with which frames of collars are sealed.
enum KeyCommand {
    static let spec = CommandSpec(
        name: "key",
        title: "make, exchange and list the keys of collars",
        synopsis: "collar-link key add|list|remove|exchange|accept-restart [ID] [FILE|LOG] [--port PATH] [--state-dir DIR]",
        summary: """
            Keeps the keys of collars that seal their frames. With a key, nobody else can read what the collar sends, send in
            its name or command it. A collar and its receiver must have the same key.

              add ID [FILE]      use the key in FILE ('-': stdin), 32 hexadecimal digits, for the collar ID; without FILE
                                 make a new key, and print it for the tool that writes it to the collar
              list               print the ids of the collars with a key, and on stderr which keys cannot be used or are not confirmed
              remove ID          remove the key: frames of this collar are then accepted in clear
              exchange           make a new key over the collar's cable, a serial line without a radio in between (--port)
              accept-restart ID LOG
                                 accept, once, that the collar counts fewer boots than before, because its memory was erased;
                                 LOG is the number of its new log, which the warning names
            """,
        options: [
            OptionSpec("--port", value: "PATH", is: "the collar's cable, for exchange"),
            OptionSpec("--state-dir", value: "DIR", is: "where journals and keys are kept ($XDG_STATE_HOME/collar-link)")
        ],
        maximumOperandCount: 3,
        notes: """
            ID is the device id of the collar, 16 hexadecimal digits, or the animal that wears it now. A running collar-link looks for keys while frames come in,
            once a second.
            Keys lie in DIR/keys, readable by their owner alone, and are not encrypted there.
            exchange prints the id of the collar. A collar obeys for a minute after a press of its button; if this machine has its
            key, or it never had one, also after it is switched on. Without its old key, a collar begins a new log.
            exit codes: 0 done, 64 usage, 65 FILE holds no key, or the collar has lost its key, 66 no such key, FILE or directory,
            69 no collar at PATH, or it has not offered or not confirmed a key, 74, 75, 77 or 78 the keys cannot be read or stored,
            or PATH cannot be opened
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let files = KeyFiles(stateDirectory: try arguments.stateDirectory())
        let operands = arguments.operands
        switch (operands.first, operands.count) {
        case ("list", 1): return try list(files)
        case ("add", 2...3): try add(operands, to: files)
        case ("remove", 2):
            let deviceID = try AnimalNames().collar(operands[1], as: "key \(operands[0])")
            try checkKey(of: deviceID, in: files)
            try files.change { files throws(JournalError) in _ = try files.remove(deviceID) }
        case ("exchange", 1):
            guard let path = arguments.value("--port") else {
                throw CommandFailure(.usage, "key exchange wants the port of the cable: --port PATH")
            }
            var session = try CableSession(port: path, files: files)
            let deviceID = try session.run()
            try StandardOutput.write(MessageDescription.hexadecimal(deviceID) + "\n")
        case ("accept-restart", 3):
            let deviceID = try AnimalNames().collar(operands[1], as: "key \(operands[0])")
            guard let logID = UInt32(operands[2]), logID <= LogIdentity.maximumLogID else {
                throw CommandFailure(.usage, "\(operands[2]): the number of a log is wanted, as the warning names it")
            }
            try checkKey(of: deviceID, in: files)
            try files.change { files throws(JournalError) in
                guard var entry = try files.entry(of: deviceID) else { return }
                entry.acceptedRestart = logID
                try files.store(entry, of: deviceID)
            }
        default:
            let verbs = ["add", "list", "remove", "exchange", "accept-restart"]
            throw CommandFailure(
                .usage, "key wants one of: add ID [FILE], list, remove ID, exchange, accept-restart ID LOG"
                    + Suggestion.text(forVerb: operands.first, among: verbs))
        }
        return .clean
    }

    /// Prints every collar with a key file, and says which of these files cannot be used.
    /// - Returns: the exit code for the first file that cannot be used.
    private static func list(_ files: KeyFiles) throws(CommandFailure) -> ExitCode {
        var code = ExitCode.clean
        for deviceID in try CommandFailure.wrapping(try files.deviceIDs()) ?? [] {
            do throws(CommandFailure) {
                // Another program may have removed the file meanwhile.
                guard let entry = try CommandFailure.wrapping(try files.entry(of: deviceID)) else { continue }
                if !entry.pendingKeys.isEmpty {
                    StandardError.say(
                        "collar \(MessageDescription.hexadecimal(deviceID)) has offered a key and has not confirmed it",
                        remedy: "to finish the exchange: collar-link key exchange --port PATH")
                }
                guard entry.key != nil else { continue }
            } catch {
                StandardError.say(error.message, remedy: error.remedy)
                if code == .clean { code = error.code }
            }
            try StandardOutput.write(MessageDescription.hexadecimal(deviceID) + "\n")
        }
        return code
    }

    private static func add(_ operands: [String], to files: KeyFiles) throws(CommandFailure) {
        let deviceID = try AnimalNames().collar(operands[1], as: "key \(operands[0])")
        let key: CollarKey
        if operands.count == 3 {
            key = try CollarKey(fileAt: operands[2])
        } else {
            // On Linux this generator reads the random numbers of the kernel.
            var random = SystemRandomNumberGenerator()
            key = CollarKey.random(using: &random)
        }
        try files.change { files throws(JournalError) in
            var entry = try KeyCommand.usableEntry(of: deviceID, in: files) ?? KeyFiles.Entry(key: nil)
            // The collar may have taken over a pending key.
            entry.key = key
            try files.store(entry, of: deviceID)
        }
        if operands.count == 2 { try StandardOutput.write(key.hexadecimalDigits + "\n") }
    }

    /// The entry of a collar; nil if there is none, or if its file is damaged.
    private static func usableEntry(of deviceID: UInt64, in files: KeyFiles) throws(JournalError) -> KeyFiles.Entry? {
        do throws(JournalError) { return try files.entry(of: deviceID) } catch {
            if case .unreadableKey = error { return nil }
            throw error
        }
    }

    private static func checkKey(of deviceID: UInt64, in files: KeyFiles) throws(CommandFailure) {
        let known = try CommandFailure.wrapping(try files.deviceIDs()) ?? []
        guard !known.contains(deviceID) else { return }
        throw CommandFailure(
            .noInput, "there is no key of collar \(MessageDescription.hexadecimal(deviceID))",
            remedy: "'collar-link key list' prints the collars with a key")
    }
}
