import CheckedNumbers
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire
import Glibc

enum KeyCommand: Command {
    static let spec = CommandSpec(
        name: "key",
        title: "make, exchange and list the keys of collars",
        synopsis: """
            collar-link key list
            collar-link key add ID [FILE]
            collar-link key show ID
            collar-link key remove ID
            collar-link key exchange --port PATH
            collar-link key accept-restart ID LOG
            """,
        summary: """
            Manages the keys of collars. A collar and its receiver share a key. With it, every frame is encrypted and authenticated:
            nobody else can read positions, forge them, or command the collar. Without a key, anyone in range can.

            verbs:
              list                   print the ids of the collars with a key; report on
                                     stderr keys that are unusable or not confirmed
              add ID                 make a new key and print it, for the collar
              add ID FILE            use the key in FILE (`-`: stdin), 32 hexadecimal digits
              show ID                print the key in use: whoever reads it can read the
                                     collar's positions and command the collar
              remove ID              remove the key, also one that is lost; frames in
                                     clear are accepted again
              exchange               make a new key together with the collar, over a cable
              accept-restart ID LOG  accept once that the collar has lost its boot count;
                                     the warning shows LOG, the number of its new log
            """,
        options: [
            OptionSpec("--port", value: "PATH", is: "with `exchange`: the serial port of the collar's cable"),
            OptionSpec("--replace", is: "with `add`: store a key beside the one in use, which it replaces when the collar uses it (default: refuse)"),
            .stateDirectory,
        ],
        maximumOperandCount: 3,
        notes: """
            ID is the id of the collar, 16 hexadecimal digits, or the name of the animal that wears it now.

            new keys:
            A running `run` uses a new key within a second after the next frame. From then on it accepts only frames that are sealed
            with this key. `add` does not change the key in the collar: give the collar the same key, or nothing is received.

            So `add` replaces a key only with `--replace`, and the old key stays in use until the collar has used the new one. To drop
            the old key at once, `remove` it first.

            exchange:
            `exchange` needs a cable: a serial line to the collar, without a radio between. For a minute after two presses of its
            button, the collar offers a new key. If this machine has its key, or the collar never had one, it also does so after
            power-on. `exchange` prints the id of the collar.

            If an exchange is interrupted, start it again. Both keys stay stored until the collar has used the new one. Without its old
            key, a collar starts a new log, and loses undelivered fixes, settings and pairing.

            accept-restart:
            After its whole flash was erased, a collar counts its boots from 1 again, and `run` refuses it with a warning. Give it
            another key, or use `accept-restart`. A LOG of which something is stored is refused: an erased collar has a new one.

            storage:
            The keys are in the directory `keys` of the state directory. They are not encrypted. Only the owner of the directory can
            read them. `collar-link receiver export` does not contain keys.

            examples:
              collar-link key add 910a2dec89025cc1 key.txt
              (umask 077; collar-link key show 910a2dec89025cc1 > key.txt)
              collar-link key exchange --port /dev/ttyUSB1

            trying an exchange:
              collar-link simulate --walk 60/120/3600 --cable /tmp/cable &
              collar-link key exchange --port /tmp/cable

            exit codes:
              0   done
              64  wrong usage; `accept-restart`: LOG is stored
              65  FILE has no key, or the collar has lost its key
              66  no such key, file or directory
              69  no collar at PATH, or it did not offer or confirm a key
              73  `add`: the collar has another key, and `--replace` is missing
              74  I/O error, or the key cannot be stored
              75  PATH is in use
              77  no permission
              78  a stored key is unusable, or PATH is not a serial port
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let stateDirectory = try arguments.stateDirectory()
        let files = KeyFiles(stateDirectory: stateDirectory)
        let operands = arguments.operands
        if !["add", "exchange"].contains(operands.first) { try arguments.requireStateDirectory() }
        switch (operands.first, operands.count) {
        case ("list", 1): return try list(files)
        case ("add", 2...3): try add(operands, to: files, replaces: arguments.has("--replace"))
        case ("remove", 2):
            let deviceID = try AnimalNames().collar(operands[1], as: "key \(operands[0])")
            // The key of a collar with sealed frames may be lost: then its removal is noted.
            if try !isKeyLost(of: deviceID, in: files, stateDirectory) { try checkKey(of: deviceID, in: files) }
            try files.change { files throws(JournalError) in try files.remove(deviceID) }
        case ("show", 2): try show(operands[1], files)
        case ("exchange", 1):
            guard let path = arguments.value("--port") else {
                throw CommandFailure(.usage, "`key exchange` needs the port of the cable: `--port PATH`.")
            }
            var session = try CableSession(port: path, files: files)
            try StandardOutput.write("\(try session.run())\n")
        case ("accept-restart", 3):
            let deviceID = try AnimalNames().collar(operands[1], as: "key \(operands[0])")
            guard let logID = UInt32(operands[2], in: 0 ... .max).flatMap(LogID.init(rawValue:)) else {
                throw CommandFailure(.usage, "'\(operands[2])' is not the number of a log; the warning of `collar-link run` names the log.")
            }
            try checkKey(of: deviceID, in: files)
            guard try !isStored(logID, of: deviceID, in: try arguments.stateDirectory()) else {
                throw CommandFailure(
                    .usage, "Something of log \(logID) is stored: a collar whose memory was erased has a new log.",
                    remedy: "Ignore the warning: somebody repeats old frames of the collar.")
            }
            try files.change { files throws(JournalError) in
                guard var entry = try files.entry(of: deviceID) else { return }
                entry.acceptedRestart = logID
                try files.store(entry, of: deviceID)
            }
        default:
            let verbs = ["add", "show", "list", "remove", "exchange", "accept-restart"]
            throw CommandFailure(
                .usage, "`key` needs one of: `add ID [FILE]`, `show ID`, `list`, `remove ID`, `exchange`, `accept-restart ID LOG`."
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
                        "\(collarSubject(deviceID)) has a new key and has not confirmed it.",
                        remedy: "Give the collar this key. To finish an exchange: `collar-link key exchange --port PATH`.")
                }
                guard entry.key != nil else { continue }
            } catch { error.tell(&code) }
            try StandardOutput.write("\(deviceID)\n")
        }
        return code
    }

    private static func add(_ operands: [String], to files: KeyFiles, replaces: Bool) throws(CommandFailure) {
        let deviceID = try AnimalNames().collar(operands[1], as: "key \(operands[0])")
        let known = try CommandFailure.wrapping(try usableEntry(of: deviceID, in: files))
        let key: CollarKey
        if operands.count == 3 {
            key = try CollarKey(fileAt: operands[2])
            guard known?.key != key else { return }
        } else {
            // On Linux this generator reads the random numbers of the kernel.
            var random = SystemRandomNumberGenerator()
            key = CollarKey.random(using: &random)
        }
        guard known?.key == nil || replaces else {
            throw CommandFailure(
                .cannotCreate, "\(collarSubject(deviceID)) has a key already, and keeps it.",
                remedy: "To replace it: `collar-link key add \(operands.dropFirst().joined(separator: " ")) --replace`. The collar must get "
                    + "the new key, too; until it uses that, the old one stays.")
        }
        try files.change { files throws(JournalError) in
            var entry = try KeyCommand.usableEntry(of: deviceID, in: files) ?? KeyFiles.Entry(key: nil)
            // The collar may have taken over a pending key, so these stay. A key in use stays until the collar has used the new one:
            // the new key may be wrong, or not be in the collar yet.
            if entry.key == nil { entry.key = key } else if entry.key != key { entry.addPending(key) }
            entry.acceptedRestart = nil
            try files.store(entry, of: deviceID)
        }
        if operands.count == 2 { try StandardOutput.write(key.hexadecimalDigits + "\n") }
    }

    private static func show(_ collar: String, _ files: KeyFiles) throws(CommandFailure) {
        let deviceID = try AnimalNames().collar(collar, as: "key show")
        try checkKey(of: deviceID, in: files)
        guard let entry = try CommandFailure.wrapping(try files.entry(of: deviceID)), let key = entry.key ?? entry.pendingKeys.last else {
            return
        }
        if !entry.pendingKeys.isEmpty {
            StandardError.say(
                entry.key == nil
                    ? "The collar has not confirmed this key." : "This key is in use; the collar has a new one and has not confirmed it.")
        }
        try StandardOutput.write(key.hexadecimalDigits + "\n")
    }

    /// Whether the journal of a collar has something of a log.
    private static func isStored(_ logID: LogID, of deviceID: DeviceID, in stateDirectory: String) throws(CommandFailure) -> Bool {
        do throws(JournalError) {
            return try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID).verify().logs.contains { $0.logID == logID }
        } catch {
            if case .file(let failure) = error, failure.errorNumber == ENOENT { return false }
            throw CommandFailure(error.message)
        }
    }

    /// The entry of a collar; nil if there is none, or if its file is damaged.
    private static func usableEntry(of deviceID: DeviceID, in files: KeyFiles) throws(JournalError) -> KeyFiles.Entry? {
        do throws(JournalError) { return try files.entry(of: deviceID) } catch {
            if case .unreadableKey = error { return nil }
            throw error
        }
    }

    /// Whether a collar has no key, and its journal knows of sealed frames.
    private static func isKeyLost(
        of deviceID: DeviceID, in files: KeyFiles, _ stateDirectory: String
    ) throws(CommandFailure) -> Bool {
        if try CommandFailure.wrapping(try files.deviceIDs())?.contains(deviceID) == true { return false }
        let stored = try CommandFailure.wrapping(try JournalDirectory.knownCollars(stateDirectory: stateDirectory))
        guard stored.contains(deviceID) else { return false }
        let reader = try CommandFailure.wrapping(try JournalReader(stateDirectory: stateDirectory, deviceID: deviceID))
        return try CommandFailure.wrapping(try reader.sealedProgress()) != nil
    }

    private static func checkKey(of deviceID: DeviceID, in files: KeyFiles) throws(CommandFailure) {
        let known = try CommandFailure.wrapping(try files.deviceIDs()) ?? []
        if known.contains(deviceID), try !CommandFailure.wrapping(try files.isRemoved(deviceID)) { return }
        throw CommandFailure(
            .noInput, "There is no key of \(collarName(deviceID)).",
            remedy: "`collar-link key list` prints the collars with a key.")
    }
}

extension ParsedArguments {
    /// The key in the file of `--key-file`; nil if the option is absent.
    func key() throws(CommandFailure) -> CollarKey? {
        guard let path = value("--key-file") else { return nil }
        return try CollarKey(fileAt: path)
    }
}

extension CollarKey {
    static func random(using random: inout some RandomNumberGenerator) -> CollarKey {
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return CollarKey(bytes.span)
    }

    /// Reads a key: a line of 32 hexadecimal digits. "-" is stdin.
    init(fileAt path: String) throws(CommandFailure) {
        var lines = try LineInput(path: path)
        let line = try lines.next() ?? []
        guard let key = CollarKey(hexadecimal: String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }) else {
            throw CommandFailure(
                .corruptInput, "\(path == "-" ? "stdin" : path), line \(max(1, lines.lineNumber)): a key is 32 hexadecimal digits.",
                remedy: "`collar-link key add ID` without FILE makes a key and prints it so.")
        }
        self = key
    }
}

extension KeyFiles {
    /// Changes keys, after a running receiver that changes keys has finished.
    func change(_ body: (KeyFiles) throws(JournalError) -> Void) throws(CommandFailure) {
        try CommandFailure.wrapping(try makeDirectories())
        // A receiver holds the lock for the time of one write.
        for _ in 0..<100 {
            if try CommandFailure.wrapping(try whileLocked { () throws(JournalError) in try body(self) }) { return }
            usleep(50_000)
        }
        throw CommandFailure(.portBusy, "Another program is changing keys in \(path).", remedy: "Run the command again.")
    }
}
