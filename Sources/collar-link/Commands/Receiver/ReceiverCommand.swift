import CollarFormats
import CollarErrors
import CollarJournal
import Glibc
import LinuxSystem

enum ReceiverCommand: Command {
    static let spec = CommandSpec(
        name: "receiver",
        title: "show this receiver's id; move it to another machine",
        synopsis: """
            collar-link receiver show [--state-dir DIR]
            collar-link receiver export [FILE] [--state-dir DIR]
            collar-link receiver import [FILE] [--state-dir DIR]
            """,
        summary: """
            Shows the id of the receiver of this state directory, or moves the receiver, with its collars, to another machine or disk.

            verbs:
              show           print the id, 8 hexadecimal digits
              export [FILE]  end the receiver here, permanently, and write it to FILE
                             (default stdout)
              import [FILE]  continue as the receiver in FILE here (default stdin)
            """,
        options: [.stateDirectory],
        maximumOperandCount: 2,
        notes: """
            Collars answer only to the receiver that they are paired with. A copied or restored state directory is another receiver.
            Move the receiver with `export` and `import`, or pair the collars again.

            Stop `run` before `export`. Import each file only once: two receivers with one id lose fixes. `import` notes in FILE where it was
            imported, and warns if that is a second place. You can repeat an `export`; it
            writes the same.

            The file contains the id and what was received, but no positions and no keys; `export` says how many keys there are. To move positions and keys too, copy the state
            directory after `export`, then `import` into the copy. Without the copy, earlier fixes count as delivered elsewhere.

            examples:
              collar-link receiver export receiver.txt
              collar-link receiver import receiver.txt
              collar-link send pair --to 9a3f21c0

            exit codes:
              0   done
              64  wrong usage
              65  FILE is damaged
              66  no receiver in this state directory, or no such file
              73  FILE cannot be written
              74  I/O error, or the state directory cannot be written
              75  the state directory is in use: stop `run` first
              77  no permission
              78  the receiver has moved away, or another one is here
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let stateDirectory = try arguments.stateDirectory()
        if ["show", "export"].contains(arguments.operands.first) { try arguments.requireStateDirectory() }
        let path = arguments.operands.dropFirst().first
        switch (arguments.operands.first, path) {
        case ("show", nil): try show(stateDirectory)
        case ("export", _): try export(stateDirectory, to: path == "-" ? nil : path)
        case ("import", _): try takeOver(stateDirectory, from: path ?? "-")
        default:
            throw CommandFailure(
                .usage, "`receiver` needs one of: `show`, `export [FILE]`, `import [FILE]`."
                    + Suggestion.text(forVerb: arguments.operands.first, among: ["show", "export", "import"]))
        }
        return .clean
    }

    private static func show(_ stateDirectory: String) throws(CommandFailure) {
        let identity = try CommandFailure.wrapping(try ReceiverIdentity.existing(stateDirectory: stateDirectory))
        guard let identity else { throw CommandFailure(JournalError.noReceiver(path: stateDirectory).message) }
        try StandardOutput.write(MessageDescription.hexadecimal(UInt64(identity.receiverID), digits: 8) + "\n")
    }

    private static func export(_ stateDirectory: String, to path: String?) throws(CommandFailure) {
        try CommandFailure.wrapping(try requireReceiver(in: stateDirectory))
        // The file is created first, so that the receiver does not end if the file cannot be created.
        let descriptor = try path.map { (path) throws(CommandFailure) in try newFile(path) }
        defer { if let descriptor { _ = close(descriptor) } }
        let transfer: ReceiverTransfer
        do throws(CommandFailure) {
            transfer = try CommandFailure.wrapping(
                try ReceiverTransfer.retiring(stateDirectory: stateDirectory, nowUnixMilliseconds: WallClock.unixMilliseconds))
        } catch {
            if let path { _ = unsafe unlink(path) }
            throw error
        }
        defer { reportKeys(of: stateDirectory) }
        guard let path, let descriptor else {
            do throws(CommandFailure) { return try StandardOutput.write(transfer.text) } catch {
                throw CommandFailure(
                    error.code, "\(error.message) The receiver has ended here.",
                    remedy: "Run `collar-link receiver export` again: it gives the same.")
            }
        }
        guard SystemFiles.write(Array(transfer.text.utf8), to: descriptor), fsync(descriptor) == 0 else {
            throw CommandFailure(
                .cannotCreate, "\(path) cannot be written: \(SystemError.text(errno)).",
                remedy: "Make room, remove \(path), and run `collar-link receiver export` again.")
        }
    }

    /// Says that keys are not exported, if there are any.
    private static func reportKeys(of stateDirectory: String) {
        let files = KeyFiles(stateDirectory: stateDirectory)
        let count: Int
        do throws(JournalError) { count = try files.deviceIDs()?.count ?? 0 } catch { return StandardError.say(error.message.reason) }
        guard count > 0 else { return }
        let example = ShellCommand("cp", "-a", files.path, "NEW/").text
        StandardError.say(
            "The keys of \(count) collar\(count == 1 ? "" : "s") are not in the export, and without them nothing of these collars is "
                + "received on the new machine.",
            remedy: "Copy the directory of the keys (`\(example)`, with owner and modes), or use `collar-link key show ID` here and "
                + "`key add ID FILE` there.")
    }

    /// Checks, before anything is created, that the state directory has a receiver. A receiver that has ended counts too.
    private static func requireReceiver(in stateDirectory: String) throws(JournalError) {
        do throws(JournalError) {
            let identity = try ReceiverIdentity.existing(stateDirectory: stateDirectory)
            if identity == nil { throw .noReceiver(path: stateDirectory) }
        } catch {
            guard case .retired = error else { throw error }
        }
    }

    private static func newFile(_ path: String) throws(CommandFailure) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .cannotCreate, "\(path) cannot be created: \(SystemError.text(errno)).",
                remedy: errno == EEXIST ? "Give another name, or remove \(path) if it is not an export that is still needed." : nil)
        }
        return descriptor
    }

    private static func takeOver(_ stateDirectory: String, from path: String) throws(CommandFailure) {
        var text = ""
        var lines = try LineInput(path: path)
        while let line = try lines.next() { text += String(decoding: line, as: UTF8.self) + "\n" }
        let transfer: ReceiverTransfer
        do throws(ReceiverTransfer.TextFault) { transfer = try ReceiverTransfer(text: text) } catch {
            throw CommandFailure(
                .corruptInput, "\(path == "-" ? "stdin" : path), line \(error.line): this must be \(error.wanted).",
                remedy: "Give what `collar-link receiver export` wrote; it can be run again where it was run.")
        }
        let earlier = text.split(separator: "\n").last { $0.hasPrefix(importMark) }?.dropFirst(importMark.count)
        var random = SystemRandomNumberGenerator()
        try CommandFailure.wrapping(
            try transfer.takeOver(
                stateDirectory: stateDirectory, nowUnixMilliseconds: WallClock.unixMilliseconds, random: &random))
        let place = place(of: stateDirectory)
        if let earlier, earlier != place {
            StandardError.say(
                "This receiver was imported before, into \(earlier): two receivers with one id lose fixes.",
                remedy: "Never start the other one again: remove its state directory.", as: LogMark(.warning))
        }
        if path != "-", earlier ?? "" != place { note(place, in: path) }
    }

    /// Begins the line that an import appends to the file, after the end of the receiver in it.
    private static let importMark = "imported into "

    /// A state directory and its machine.
    private static func place(of stateDirectory: String) -> String {
        var name = utsname()
        let machine = unsafe uname(&name) == 0
            ? unsafe withUnsafeBytes(of: name.nodename) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } : ""
        return "\(machine):\(DevicePath(stateDirectory).target)"
    }

    /// Notes in the file where it was imported. A file that cannot be written stays as it is.
    private static func note(_ place: String, in path: String) {
        let descriptor = unsafe open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let line = Array("\(importMark)\(place)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
}
