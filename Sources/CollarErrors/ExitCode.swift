/// Exit codes of the tool, based on sysexits.h.
public enum ExitCode: Int32, Sendable {
    /// The command succeeded, or it ended because the reader of stdout went away, or on SIGINT, SIGTERM or SIGHUP.
    case clean = 0
    /// `doctor` finds nothing but what deserves attention.
    case warnings = 1
    /// The command line does not make sense.
    case usage = 64
    /// An input file is not valid, or a collar finds a value invalid.
    case corruptInput = 65
    /// An input file does not exist or cannot be read, or a named collar or fix is unknown.
    case noInput = 66
    /// There is no device, and the user does not want to wait; or a collar cannot do what was asked.
    case noDevice = 69
    /// A fault of this program.
    case software = 70
    /// An output cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed; or a collar tried what was asked, and failed.
    case inputOutput = 74
    /// The port is in use, or a request to a collar has no result yet. Trying again later may help.
    case portBusy = 75
    /// The user is not allowed to open a file or port; or a collar refuses the request.
    case noPermission = 77
    /// The port or the state directory is not set up as it must be; or the version of a collar's settings rules out the update.
    case configuration = 78
}
