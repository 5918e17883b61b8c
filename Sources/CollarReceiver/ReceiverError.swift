import CollarHost
import CollarJournal
import LinuxSystem
import SerialDevices

/// An error that ends a receiver.
package enum ReceiverError: Error, Equatable, Sendable {
    /// A port that the user named cannot be used.
    case port(SerialPortError)
    /// The user does not want to wait, and no radio is plugged in (`path` is nil) or the radio at `path` was unplugged.
    case noDevice(path: String?)
    /// The machine of a radio cannot be reached, and the user does not want to wait.
    case connection(path: String, reason: String)
    /// Devices cannot be discovered.
    case discovery(SystemError)
    /// The host cannot start.
    case host(HostError)
    /// Writing lines failed, and not because the reader went away.
    case output(errorNumber: Int32)
    /// A capture cannot be begun.
    case captureFile(CaptureFileError)
    /// A capture cannot be opened or read.
    case captureUnreadable(path: String, errorNumber: Int32)
    /// A file is not a capture, or a damaged one.
    case capture(path: String, CaptureError)
    /// A system call that normally succeeds has failed.
    case system(SystemError)
}
