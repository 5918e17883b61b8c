/// Exit codes of the tool, after sysexits.h.
enum ExitCode: Int32 {
    /// Everything went as asked; also when the reader of stdout went away, and after SIGINT or SIGTERM.
    case clean = 0
    /// The command line does not make sense.
    case usage = 64
    /// An input file holds something else than it should; a collar finds a value invalid.
    case corruptInput = 65
    /// An input file, or a collar that was named, does not exist or cannot be read.
    case noInput = 66
    /// No device, and waiting was not wanted; a collar cannot do what was asked of it.
    case noDevice = 69
    /// A fault of this program.
    case software = 70
    /// An output cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed; a collar tried what was asked of it and failed.
    case inputOutput = 74
    /// The port is in use, a request to a collar has no result yet; trying again later may help.
    case portBusy = 75
    /// Something may not be opened; a collar does not obey.
    case noPermission = 77
    /// The port or the state directory is not set up as it must be; a collar's settings are of a higher version.
    case configuration = 78
}

/// What ends a command early: a message for a person and the code for a script.
struct CommandFailure: Error {
    var code: ExitCode
    var message: String
    var remedy: String?

    init(_ code: ExitCode, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}
