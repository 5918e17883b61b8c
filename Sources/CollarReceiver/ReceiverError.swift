import CollarHost
import SerialDevices

/// What a receiver cannot go on after.
public enum ReceiverError: Error, Equatable, Sendable {
    /// A port the user named cannot be used.
    case port(SerialPortError)
    /// There is no device, and waiting was not wanted.
    case noDevice(String)
    /// Devices cannot be discovered.
    case discovery(SystemError)
    /// The host cannot begin.
    case host(HostError)
    /// Writing lines failed for another reason than a reader that went away.
    case output(errorNumber: Int32)
    /// A system call that does not fail failed.
    case system(operation: String, errorNumber: Int32)
}
