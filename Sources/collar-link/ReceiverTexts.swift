import CollarBridge
import CollarJournal
import CollarReceiver
import Glibc
import SerialDevices

extension CommandFailure {
    /// The command ends because a journal cannot be used.
    init(_ error: JournalError) { self.init(error.exitCode, error.description, remedy: error.remedy) }

    /// It is not known which devices there are.
    init(discovery error: SystemError) {
        self.init(
            .inputOutput, "Devices cannot be discovered: \(error.text).",
            remedy: "Name the radio's port: `collar-link --port /dev/ttyUSB0`.")
    }

    /// `run` ends because the receiver cannot begin or go on.
    init(_ error: ReceiverError) {
        switch error {
        case .port(let failure):
            self.init(failure.exitCode, failure.description, remedy: failure.remedy)
        case .noDevice(let text):
            self.init(.noDevice, text, remedy: "plug one in, or leave out --no-reconnect to wait for it")
        case .discovery(let failure): self.init(discovery: failure)
        case .host(.journal(let failure)): self.init(failure)
        case .host(.unknownFix(let fix)):
            self.init(
                .noInput, "--since: there is no fix \(fix.sequence) of log \(fix.logID) of collar \(MessageText.hexadecimal(fix.deviceID)) "
                    + "in the state directory",
                remedy: "begin with a time (--since 2h) or with all there is (--from-start)")
        case .output(let errorNumber):
            self.init(.inputOutput, "stdout cannot be written: \(SystemError.text(errorNumber))")
        case .system(let operation, let errorNumber):
            self.init(.software, "\(operation): \(SystemError.text(errorNumber))")
        }
    }
}

extension SerialPortError {
    /// The exit code that tells a script what to do about it.
    var exitCode: ExitCode {
        switch self {
        case .notFound, .disconnected: .noDevice
        case .notATerminal: .configuration
        case .busy: .portBusy
        case .permissionDenied: .noPermission
        case .system: .inputOutput
        }
    }
}

extension JournalError {
    /// The exit code that tells a script what to do about it.
    var exitCode: ExitCode {
        switch self {
        case .heldBy: .portBusy
        case .laterFormat, .foreignSegment, .openToStrangers, .unreadableReceiver, .retired, .otherReceiver: .configuration
        case .noReceiver: .noInput
        case .file(let failure): failure.errorNumber == EACCES || failure.errorNumber == EPERM ? .noPermission : .cannotCreate
        case .stopped, .unencodable, .pendingLimitReached, .trackingLimitReached, .logLimitReached, .sizeLimitReached:
            .inputOutput
        }
    }
}

extension ReceiverStatistics {
    /// The counts in a line.
    var text: String {
        "\(host.fixes) fixes stored, \(lines) lines written, \(host.duplicates) duplicates; frames: \(host.frames) used, "
            + "\(host.damagedFrames) damaged, \(host.unknownFrames) of unknown collars, \(host.unsupportedFrames) unsupported, "
            + "\(host.malformedFrames) malformed"
    }
}
