import CollarControl
import CollarErrors
import CollarFormats
import CollarHost
import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices

extension ReceiverError: MessageError {
    package var message: UserMessage {
        switch self {
        case .port(let failure): failure.message
        case .connection(let path, let reason): .unreachable(path: path, reason: reason, isTriedAgain: false)
        case .noDevice(let path):
            UserMessage(
                .noDevice, path.map { "\($0) was unplugged." } ?? "No collar radio is plugged in.",
                "Plug one in, or leave out `--no-reconnect` to wait for it.")
        case .discovery(let failure): failure.discoveryMessage
        case .host(.journal(let failure)): failure.message
        case .host(.unknownFix(let fix)): .unknownFix(fix, "Begin with a time (`--since 2h`) or with all there is (`--from-start`).")
        case .output(let errorNumber): .outputFailed(errorNumber)
        case .captureFile(let failure): failure.message(isReceiving: false)
        case .captureUnreadable(let path, let errorNumber):
            UserMessage(.noCapture, "\(path) cannot be read: \(SystemError.text(errorNumber)).", "Name a file that `--write` has made.")
        case .capture(let path, let failure): failure.message(path: path)
        case .system(let failure): UserMessage(.unknown, failure.message.reason)
        }
    }
}

extension SystemError {
    /// The message that device discovery failed with this error, for a person.
    package var discoveryMessage: UserMessage {
        UserMessage(
            .discoveryFailed, "Devices cannot be discovered: \(text).",
            "Name the radio's port: `collar-link --port /dev/ttyUSB0`.")
    }
}

extension ReceiverNotice {
    package var message: UserMessage {
        var message = words
        message.code = code
        return message
    }

    private var words: UserMessage {
        switch self {
        case .port(let path, let notice): notice.message(at: path)
        case .waitingForRadio(let others, let source): .waitingForRadio(others, source)
        case .udevElsewhere:
            UserMessage(
                "The events of udev do not reach this network namespace; changes in /run/udev/data show which radios come and go.")
        case .cannotSend(let path):
            UserMessage(
                "\(path) takes no bytes: frames to collars are dropped until it does.",
                "Unplug the radio and plug it in again.")
        case .controlFailing(let path, let errorNumber):
            UserMessage(
                "`collar-link send` cannot reach this receiver over \(path): \(SystemError.text(errorNumber)).",
                "Give it another `--state-dir`, or set XDG_RUNTIME_DIR.")
        case .editedFile(let fault): fault.message
        case .fixesLeftOut(let omission): omission.message
        case .capturing(let path):
            UserMessage("The receiver is recording in \(path), which contains positions: think before you pass it on.")
        case .captureStopped(let failure): failure.message(isReceiving: true)
        case .crashed(let end): end.message
        case .targetMissed(let target, let value): target.missedMessage(measured: value)
        case .figures(let statistics, let latencies): UserMessage(latencies.text(statistics))
        case .traffic(let path, let isInbound, let bytes):
            UserMessage("\(path) \(isInbound ? "in" : "out") \(bytes.count) bytes: \(bytes.hexadecimalText)")
        case .modem(let path, let notice): notice.message(port: path)
        case .renewing(let path, let deviceID):
            UserMessage("\(path) is opened again to set up its radio, because \(collarName(deviceID)) is not heard.")
        case .host(let notice): notice.message
        case .repeated(let notice, let leftOutCount): notice.message.after(leftOutCount)
        }
    }
}

extension UserMessage {
    /// The message after others of its kind that were left out.
    fileprivate func after(_ leftOutCount: Int) -> UserMessage {
        var message = self
        message.reason += " \(leftOutCount) message\(leftOutCount == 1 ? "" : "s") of this kind \(leftOutCount == 1 ? "was" : "were") left out."
        return message
    }

    fileprivate static func waitingForRadio(_ others: [SerialDevice], _ source: DeviceMonitor.Source) -> UserMessage {
        // No mark of a rule is seen without udevd's data, so only the product's name counts.
        guard source != .kernel else {
            return UserMessage(
                nil,
                "No collar radio is plugged in; the receiver is waiting for one whose product name begins with CollarLink, because marks "
                    + "are not seen: udevd does not run here, or /run/udev is not visible. "
                    + (others.isEmpty ? "There is no other serial device." : "The other serial devices are below."),
                "Name a port with `--port PATH`, or start the container with `-v /run/udev:/run/udev:ro --network host`.")
        }
        return UserMessage(
            nil,
            "No collar radio is plugged in; the receiver is waiting for one (udev property COLLAR_LINK=1). "
                + (others.isEmpty ? "There is no other serial device." : "The serial devices below are not marked as one."),
            others.first(where: \.isUnmarkedAdapter).map { adapter in
                "Mark a radio once with `\(ShellCommand("collar-link", "mark", adapter.node).text)`, name a port with `--port PATH`, or plug a "
                    + "collar radio in."
            } ?? "Name a port with `--port PATH`, or plug a collar radio in.")
    }

    fileprivate static func unreachable(path: String, reason: String, isTriedAgain: Bool) -> UserMessage {
        UserMessage(
            .radioUnreachable, "\(path) cannot be reached: \(reason)\(isTriedAgain ? "; it is tried again" : "").",
            "Check that ser2net, socat or the bridge runs there, and that no firewall is in the way.")
    }
}

extension PerformanceTarget {
    /// The target is missed.
    func missedMessage(measured value: Int64) -> UserMessage {
        switch self {
        case .fixLatency:
            UserMessage(
                "95 % of the last 100 new fixes came within \(value / 1000) ms of their time; the target is less than 500 ms.",
                "Set the clock of this machine by NTP. On LoRa, use a lower spreading factor where the range allows it.")
        case .messageLatency:
            UserMessage(
                "95 % of the last 100 answers to collars took up to \(value / 1000) ms; the target is less than 100 ms.",
                "Look for what keeps the disk or the processor of this machine busy; an SD card may be worn out.")
        case .memory:
            UserMessage(
                "This program uses \(value / 1_000_000) MB of memory; the target is at most 50 MB.",
                "Restart it at a quiet time, and report this as a fault of the program.")
        case .processor:
            UserMessage(
                "This program has used \(value) % of a processor since its start; the target is less than 10 %.",
                "Look for a device that sends without a pause: the counts of frames in the `stats` lines say how many are of no use.")
        }
    }
}

extension CaptureFileError {
    /// The error, for a person.
    /// - Parameter isReceiving: whether the receiver goes on without the capture.
    package func message(isReceiving: Bool) -> UserMessage {
        switch self {
        case .system(let path, let operation, let errorNumber):
            UserMessage(
                .captureFailing, "The capture \(path) cannot be written: \(operation): \(SystemError.text(errorNumber)).",
                (isReceiving ? "Receiving goes on. " : "") + remedy(errorNumber, isReceiving: isReceiving))
        case .notAFile(let path):
            UserMessage(.captureFailing, "\(path) is no file: a capture is written to a file.", "Name another file: `--write FILE`.")
        case .otherContent(let path):
            UserMessage(
                .captureFailing, "\(path) holds something else than a capture, and is not overwritten.",
                "Remove it, or name another file: `--write FILE`.")
        case .inUse(let path):
            UserMessage(.captureFailing, "\(path) is in use by another process.", "Name another file: `--write FILE`.")
        }
    }

    private func remedy(_ errorNumber: Int32, isReceiving: Bool) -> String {
        switch errorNumber {
        case ENOSPC, EDQUOT:
            isReceiving
                ? "Make room, then restart collar-link: the capture goes on, too." : "Make room, or name a file on another disk: `--write FILE`."
        case EFBIG: "Raise the limit of file sizes (`ulimit -f`), or name another file: `--write FILE`."
        default: "Name a file that can be written: `--write FILE`."
        }
    }
}

extension CaptureError {
    /// The error, for a person.
    /// - Parameter command: the command that reads captures, as it reads stdin.
    package func message(path: String, _ command: ShellCommand = ShellCommand("collar-link", "--read", "-")) -> UserMessage {
        if var mismatch = kind?.mismatch(path: path, .capture, command) {
            mismatch.code = .captureDamaged
            return mismatch
        }
        let reason =
            switch problem {
            case .notACapture: "this is no capture"
            case .blockLength(let count): "a block has the impossible length \(count)"
            case .shortBlock(let type): "a block of type \(type) is too short"
            case .unknownInterface(let number): "a packet names interface \(number), which was not described before"
            case .timeResolution(let resolution): "times in the resolution \(resolution) cannot be used"
            case .version(let version): "a record has version \(version), which this version cannot read"
            case .content(let event): "the content of a record of event \(event) is wrong"
            case .cut: "the capture ends inside a block"
            }
        return UserMessage(
            .captureDamaged, "\(path), byte \(offset): \(reason).",
            problem == .notACapture ? "Name a file that `--write` has made." : "What was before it in the file is used.")
    }
}

extension EndOfRun {
    var message: UserMessage {
        guard let signal else {
            return UserMessage(
                "The last run (process \(processID)) was killed; nothing that was acknowledged is lost.",
                "If nobody killed it, look whether memory ran out: `sudo journalctl -k -g 'out of memory'`.")
        }
        return UserMessage(
            "The last run (process \(processID)) crashed by signal \(signal); nothing that was acknowledged is lost.",
            "This is a fault of collar-link: report it, with a capture (`--write FILE`) if it happens again.")
    }
}

extension HostLatencies {
    /// Counts and latencies in one line.
    func text(_ statistics: ReceiverStatistics) -> String {
        let latencies = [("fixes", fix), ("lines", line), ("answers", message)].compactMap { name, summary in
            summary.map { "\(name) \($0.averageMicroseconds / 1000) ms, 95 % within \($0.p95Microseconds / 1000) ms" }
        }
        return (["\(statistics.host.frames) frames, \(statistics.host.fixes) fixes, \(statistics.lines) lines"] + latencies)
            .joined(separator: "; ")
    }
}

extension [UInt8] {
    /// The first bytes in hexadecimal digits.
    var hexadecimalText: String {
        let digits = prefix(256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return digits.joined() + (count > digits.count ? "…" : "")
    }
}

extension ReceiverFigures {
    /// The counts of a run in one line, for the person who ends it.
    package var summary: String {
        // A receiver knows every collar that has a journal.
        let heard = collars.values.filter { $0[.heard] == 1 }
        let time = durationText(milliseconds: values[.uptime] ?? 0)
        let fixes = counted(values[.fixes] ?? 0, "fix", "fixes")
        let messages = values[.messages] ?? 0
        let missing = heard.reduce(0) { $0 + ($1[.missing] ?? 0) }
        return fixes + (messages > 0 ? " and " + counted(messages, "message", "messages") : "")
            + " of \(counted(Int64(heard.count), "collar", "collars")) in \(time); "
            + (missing == 0 ? "none missing" : "\(missing) missing, requested again in the next run")
    }
}

package func counted(_ count: some BinaryInteger, _ singular: String, _ plural: String) -> String { "\(count) \(count == 1 ? singular : plural)" }

extension PortNotice {
    fileprivate func message(at path: String) -> UserMessage {
        switch self {
        case .waiting: UserMessage("The receiver is waiting for \(path) to appear.")
        case .opened(nil): UserMessage("The receiver is listening on \(path).")
        case .opened(let node?):
            UserMessage(
                "The receiver is listening on \(node), where the radio of \(path) is now.",
                "Name the radio by a link that follows it, such as the one in /dev/serial/by-id.")
        case .unmarked: UserMessage("\(path) is not marked as a collar radio any more, and is closed.")
        case .cannotConnect(let reason): .unreachable(path: path, reason: reason, isTriedAgain: true)
        // The error with which the receiver ends says it.
        case .unplugged(.ends): UserMessage("\(path) was unplugged.")
        case .unplugged(.isAwaited):
            UserMessage(
                NetworkAddress(path) == nil
                    ? "\(path) was unplugged; the receiver is waiting for it." : "The connection to \(path) ended; it is made again.")
        case .unplugged(.isAnotherTerminal):
            UserMessage(
                "\(path) was unplugged, and is not reopened: the next terminal of that number is another one.",
                "Start collar-link with the new terminal, or name a symbolic link that is recreated with it.")
        case .cannotOpen(let error): error.message
        case .read(let reader):
            .deviceInUse(
                "\(path) is also open in \(ProcessHolder.description(of: reader)), which takes bytes away if it reads them.", reader,
                path: path)
        }
    }
}
