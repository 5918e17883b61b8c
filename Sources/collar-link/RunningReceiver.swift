import CollarControl
import CollarDoctor
import CollarReceiver
import LinuxSystem
import SerialDevices

/// The receiver that runs with a state directory.
struct RunningReceiver {
    /// How long it may take to answer, in microseconds.
    private static let answerTime: Int64 = 5_000_000

    /// Whether one runs.
    private(set) var activity = Overview.Activity.stopped
    /// Its figures; nil where none runs, or where it does not tell them.
    private(set) var figures: ReceiverFigures?

    /// Asks the receiver for its figures. If it does not tell them, a message says so.
    /// - Parameter command: the command that needs them, for the message.
    init(of stateDirectory: String, for command: String) {
        let remedy = "Run `collar-link \(command)` as the user who runs collar-link, or as root."
        do throws(ControlConnection.ConnectError) {
            let connection = try ControlConnection(
                stateDirectory: stateDirectory, runtimeDirectory: Environment.value("XDG_RUNTIME_DIR"))
            activity = .unknown
            switch connection.figures(untilMicroseconds: MonotonicClock.microseconds + RunningReceiver.answerTime) {
            case .figures(let figures):
                self.figures = figures
                activity = .running
            case .refused(let reason):
                StandardError.say("the running collar-link does not tell its figures: \(reason)", remedy: remedy)
            case .none: StandardError.say("the running collar-link does not answer, so its figures are missing")
            }
        } catch {
            switch error {
            case .absent, .deserted: break
            case .denied(let path):
                activity = .unknown
                StandardError.say("the running collar-link tells its figures to other users only: \(path)", remedy: remedy)
            case .system(let path, let errorNumber): StandardError.say("\(path): \(SystemError.text(errorNumber))")
            }
        }
    }
}
