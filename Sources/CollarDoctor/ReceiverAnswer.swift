import CollarControl
import LinuxSystem
import SerialDevices

/// What the running receiver of a state directory says when `doctor` asks for its figures.
package enum ReceiverAnswer {
    /// Nothing: a receiver listens, and does not answer.
    package static let silent = "silent"
    /// A receiver listens, and tells this user nothing.
    private static let denied = "denied"

    /// The answer as a fact of a machine: the line of figures, or a word; nil if no receiver listens.
    /// - Parameters:
    ///   - stateDirectory: the state directory of the receiver.
    ///   - runtimeDirectory: the user's runtime directory, where a receiver with a long path has its socket; nil if there is none.
    ///   - end: until when to wait for the answer, a time of ``MonotonicClock``.
    package static func text(stateDirectory: String, runtimeDirectory: String?, untilMicroseconds end: Int64) -> String? {
        do throws(ControlConnection.ConnectError) {
            let connection = try ControlConnection(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory)
            switch connection.figures(untilMicroseconds: end) {
            case .figures(let figures):
                return String(decoding: figures.line(unixMilliseconds: WallClock.unixMilliseconds).dropLast(), as: UTF8.self)
            case .refused: return denied
            case .none: return silent
            }
        } catch {
            if case .denied = error { return denied }
            return nil
        }
    }
}
