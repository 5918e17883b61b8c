import CollarConfiguration
import CollarControl
import CollarErrors
import CollarFormats
import CollarHost
import CollarPorts
import CollarWire
import LinuxSystem
import RadioModems
import SerialDevices

/// An event that a person should know of; no notice ends the receiver.
package indirect enum ReceiverNotice: Equatable, Sendable {
    case port(path: String, PortNotice)
    /// Waiting for a collar radio; `others` are the serial devices that are present.
    case waitingForRadio(others: [SerialDevice], noticedBy: DeviceMonitor.Source = .udevd)
    /// udevd's events do not come, and changes of its database show which devices come and go.
    case udevElsewhere
    /// The radio takes no bytes: frames for it are dropped.
    case cannotSend(path: String)
    case modem(path: String, ModemNotice)
    /// The link to a collar is unhealthy, and nothing else is heard at the port: it is opened and its stick set up once more.
    case renewing(path: String, deviceID: DeviceID)
    /// No control socket could be opened for other programs. The values are the path that was tried last, and `errno`.
    case controlFailing(path: String, errorNumber: Int32)
    /// A file of animals or places cannot be used as it is: what it had before stays in use.
    case editedFile(EditedFileFault)
    /// Fixes have no line, because the format of the lines cannot express them.
    case fixesLeftOut(Omission)
    /// The events at the ports are recorded in a file.
    case capturing(path: String)
    /// The capture cannot be written any more; everything else goes on.
    case captureStopped(CaptureFileError)
    /// An earlier run ended in a way that nobody wanted.
    case crashed(EndOfRun)
    /// A performance target is missed; the measured figure is in microseconds, bytes, or percent of a processor.
    case targetMissed(PerformanceTarget, measured: Int64)
    /// Figures, once a minute while frames come in.
    case figures(ReceiverStatistics, HostLatencies)
    /// Bytes that came in at a port, or went out.
    case traffic(path: String, isInbound: Bool, bytes: [UInt8])
    /// A notice of the host, in which links are named by their paths.
    case host(HostNotice)
    /// A notice that was held back because too many of its kind came, and how many before it were left out.
    case repeated(ReceiverNotice, leftOutCount: Int)
}

/// A notice on its way to a person and to programs. Its message is built when it is first read, and only once.
package final class ReportedNotice {
    package let notice: ReceiverNotice
    package private(set) var isMessageBuilt = false
    package private(set) lazy var message: UserMessage = {
        isMessageBuilt = true
        return notice.message
    }()

    package init(_ notice: ReceiverNotice) { self.notice = notice }
}

extension ReceiverNotice {
    /// Further lines that follow the message.
    package var details: [String] { if case .waitingForRadio(let others, _) = self { others.map(\.text) } else { [] } }

    /// The path of the port that the notice is about; nil if it is not about one.
    var port: String? {
        switch self {
        case .port(_, .cannotOpen(let error)): error.path
        case .cannotSend(let path), .modem(let path, _), .port(let path, _), .renewing(let path, _): path
        case .host(let notice): notice.link
        case .repeated(let notice, _): notice.port
        default: nil
        }
    }

    /// The collar that the notice is about; nil if it is not about one.
    var deviceID: DeviceID? {
        switch self {
        case .host(let notice): notice.deviceID
        case .repeated(let notice, _): notice.deviceID
        default: nil
        }
    }

    /// Level, category and code of the notice, by which filters choose.
    package var mark: LogMark {
        if case .repeated(let notice, _) = self { return notice.mark }
        var mark = LogMark(code, otherwise: categoryWithoutCode)
        switch self {
        // A radio on which no collar is heard is not a failure yet. Damaged or lost fixes are a failure, though gap lines
        // report them instead of error lines.
        case .host(.link(_, .noIdentity)): mark.level = .info
        case .host(.collar(_, .damagedFixes)), .host(.collar(_, .lost)), .fixesLeftOut,
            .port(_, .unplugged(.isAnotherTerminal)):
            mark.level = .warning
        // For programs, there are lines of these.
        case .host(.collar(_, .status)), .host(.collar(_, .power)), .figures, .traffic: mark.level = .debug
        case .port(_, .unplugged(.ends)): mark.level = .debug
        case .crashed(let end): mark.level = end.signal == nil ? .error : .fault
        default: break
        }
        return mark
    }

    private var categoryWithoutCode: LogCategory {
        switch self {
        case .host(.collar(_, .status)), .host(.collar(_, .power)): .power
        case .figures: .performance
        case .host(.collar(_, .damagedFixes)), .host(.collar(_, .storageRecovered)), .host(.collar(_, .lost)),
            .host(.collar(_, .deliveredElsewhere)), .host(.collar(_, .positions)), .host(.collar(_, .fault)), .editedFile, .fixesLeftOut:
            .collarLocation
        default: .connectivity
        }
    }
}

/// An error that ends a receiver.
package enum ReceiverError: Error, Equatable, Sendable {
    case port(SerialPortError)
    /// The user does not want to wait, and no radio is plugged in (`path` is nil) or the radio at `path` was unplugged.
    case noDevice(path: String?)
    /// The machine of a radio cannot be reached, and the user does not want to wait.
    case connection(path: String, reason: String)
    case discovery(SystemError)
    case host(HostError)
    /// Writing lines failed, and not because the reader went away.
    case output(errorNumber: Int32)
    case captureFile(CaptureFileError)
    case captureUnreadable(path: String, errorNumber: Int32)
    /// A file is not a capture, or a damaged one.
    case capture(path: String, CaptureError)
    /// A system call that normally succeeds has failed.
    case system(SystemError)
}

extension HostNotice {
    /// Whether frames are missing that a process may have taken.
    var suggestsMissingBytes: Bool {
        switch self {
        case .link(_, .noIdentity), .collar(_, .health(.condition(.degraded))), .collar(_, .health(.condition(.unhealthy))),
            .collar(_, .health(.late)), .collar(_, .health(.unreachable)):
            true
        default: false
        }
    }
}
