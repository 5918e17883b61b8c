import CollarHost
import SerialDevices

/// What happens on the way, for a person; nothing of it ends the receiver.
public enum ReceiverNotice: Equatable, Sendable {
    /// Waiting for the path to appear.
    case waitingForPort(path: String)
    /// Waiting for a collar radio; these other serial devices are there.
    case waitingForRadio(others: [SerialDevice])
    /// A radio is open.
    case opened(path: String)
    /// A radio went away. A pseudo-terminal that was named by its number is not waited for: another one may get that.
    case unplugged(path: String, isAwaited: Bool = true)
    /// A port cannot be opened now.
    case cannotOpen(SerialPortError)
    /// There is no place where requests of other programs are taken; the path that was tried last, and errno.
    case controlFailing(path: String, errorNumber: Int32)
    /// What the host has to say. Its links are named by their paths.
    case host(HostNotice)
}
