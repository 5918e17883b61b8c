import CollarBridge
import CollarJournal
import CollarReceiver
import CollarWire

/// `collar-link key`: the keys with which frames of collars are sealed.
enum KeyCommand {
    static let spec = CommandSpec(
        name: "key",
        synopsis: "collar-link key add|list|remove|accept-restart [ID] [FILE] [--state-dir DIR]",
        summary: """
            Keeps the keys of collars that seal their frames. With a key, nobody else can read what the collar sends, send in
            its name or command it. A collar and its receiver must have the same key.

              add ID [FILE]      use the key in FILE ('-': stdin), 32 hexadecimal digits, for the collar ID; without FILE
                                 make a new key, and print it for the tool that writes it to the collar
              list               print the ids of the collars with a key, and on stderr which keys cannot be used
              remove ID          remove the key: frames of this collar are then accepted in clear
              accept-restart ID  accept, once, that the collar counts fewer boots than before, because its memory was erased
            """,
        options: [
            OptionSpec("--state-dir", value: "DIR", is: "where journals and keys are kept ($XDG_STATE_HOME/collar-link)")
        ],
        maximumOperandCount: 3,
        notes: """
            ID is the device id of the collar, 16 hexadecimal digits. A running collar-link looks for keys while frames come in,
            once a second.
            Keys lie in DIR/keys, readable by their owner alone, and are not encrypted there.
            exit codes: 0 done, 64 usage, 65 FILE holds no key, 66 no such key, FILE or directory, 74, 77 or 78 the keys cannot be
            read or stored
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let files = KeyFiles(stateDirectory: try arguments.stateDirectory())
        let operands = arguments.operands
        switch (operands.first, operands.count) {
        case ("list", 1): return try list(files)
        case ("add", 2...3): try add(operands, to: files)
        case ("remove", 2):
            let deviceID = try deviceID(operands[1])
            guard try CommandFailure.wrapping(try files.remove(deviceID)) else { throw noKey(of: deviceID) }
        case ("accept-restart", 2):
            let deviceID = try deviceID(operands[1])
            guard var entry = try CommandFailure.wrapping(try files.entry(of: deviceID)) else { throw noKey(of: deviceID) }
            entry.acceptsRestart = true
            let changed = entry
            try CommandFailure.wrapping(try files.store(changed, of: deviceID))
        default:
            throw CommandFailure(.usage, "key wants one of: add ID [FILE], list, remove ID, accept-restart ID")
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
                guard try CommandFailure.wrapping(try files.entry(of: deviceID)) != nil else { continue }
            } catch {
                StandardError.say(error.message, remedy: error.remedy)
                if code == .clean { code = error.code }
            }
            try StandardOutput.write(MessageDescription.hexadecimal(deviceID) + "\n")
        }
        return code
    }

    private static func add(_ operands: [String], to files: KeyFiles) throws(CommandFailure) {
        let deviceID = try deviceID(operands[1])
        let key: CollarKey
        if operands.count == 3 {
            key = try CollarKey(fileAt: operands[2])
        } else {
            // On Linux this generator reads the random numbers of the kernel.
            var random = SystemRandomNumberGenerator()
            let bytes = (0..<CollarKey.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            key = CollarKey(bytes.span)
        }
        try CommandFailure.wrapping(try files.store(KeyFiles.Entry(key: key), of: deviceID))
        if operands.count == 2 { try StandardOutput.write(key.hexadecimalDigits + "\n") }
    }

    private static func deviceID(_ text: String) throws(CommandFailure) -> UInt64 {
        guard let deviceID = ControlRequest.deviceID(text) else {
            throw CommandFailure(.usage, "\(text): the id of a collar is wanted, 16 hexadecimal digits")
        }
        return deviceID
    }

    private static func noKey(of deviceID: UInt64) -> CommandFailure {
        CommandFailure(
            .noInput, "there is no key of collar \(MessageDescription.hexadecimal(deviceID))",
            remedy: "'collar-link key list' prints the collars with a key")
    }
}
