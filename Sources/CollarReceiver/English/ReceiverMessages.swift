import CollarFormats
import CollarErrors
import CollarHost
import Glibc
import LinuxSystem
import SerialDevices

extension ReceiverError: MessageError {
    /// The error, for a person.
    package var message: UserMessage {
        switch self {
        case .port(let failure): failure.message
        case .connection(let path, let reason): .unreachable(path: path, reason: reason, isTriedAgain: false)
        case .noDevice(let path):
            UserMessage(
                .noDevice, path.map { "\($0) was unplugged" } ?? "no collar radio is plugged in",
                "Plug one in, or leave out `--no-reconnect` to wait for it.")
        case .discovery(let failure): failure.discoveryMessage
        case .host(.journal(let failure)): failure.message
        case .host(.unknownFix(let fix)): .unknownFix(fix)
        case .output(let errorNumber): .outputFailed(errorNumber)
        case .captureFile(let failure): failure.message(isReceiving: false)
        case .captureUnreadable(let path, let errorNumber):
            UserMessage(.noCapture, "\(path) cannot be read: \(SystemError.text(errorNumber))", "Name a file that `--write` has made.")
        case .capture(let path, let failure): failure.message(path: path)
        case .system(let failure): UserMessage(.unknown, failure.text)
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
    /// The notice, for a person.
    package var message: UserMessage {
        switch self {
        case .waitingForPort(let path): UserMessage(nil, "waiting for \(path) to appear")
        case .waitingForRadio(let others, let source): .waitingForRadio(others, source)
        case .udevElsewhere:
            UserMessage(
                nil, "udev's events do not reach this network namespace; changes in /run/udev/data show which radios come and go")
        case .opened(let path, nil): UserMessage(nil, "listening on \(path)")
        case .opened(let path, let node?):
            UserMessage(
                nil, "listening on \(node), where the radio of \(path) is now",
                "Name the radio by a link that follows it, such as the one in /dev/serial/by-id.")
        case .unmarked(let path): UserMessage(nil, "\(path) is not marked as a collar radio any more, and is closed")
        case .cannotConnect(let path, let reason): .unreachable(path: path, reason: reason, isTriedAgain: true)
        // The error with which the receiver ends says it.
        case .unplugged(let path, .ends): UserMessage(nil, "\(path) was unplugged")
        case .unplugged(let path, .isAwaited):
            UserMessage(
                nil, NetworkAddress(path) == nil
                    ? "\(path) was unplugged; waiting for it" : "the connection to \(path) ended; it is made again")
        case .unplugged(let path, .isAnotherTerminal):
            UserMessage(
                nil, "\(path) was unplugged, and is not reopened: the next terminal of that number is another one",
                "Start collar-link with the new terminal, or name a symbolic link that is recreated with it.")
        case .cannotOpen(let error): error.message
        case .read(let path, let reader):
            .deviceInUse(
                "\(path) is also open in \(ProcessHolder.description(of: reader)), which takes bytes away if it reads them", reader,
                path: path)
        case .cannotSend(let path):
            UserMessage(
                .messageSendFailed, "\(path) takes no bytes: frames to collars are dropped until it does",
                "Unplug the radio and plug it in again.")
        case .controlFailing(let path, let errorNumber):
            UserMessage(
                .controlFailing, "'collar-link send' cannot reach this collar-link: \(path): \(SystemError.text(errorNumber))",
                "Give it another `--state-dir`, or set XDG_RUNTIME_DIR.")
        case .animals(let fault): fault.message
        case .fixesLeftOut(let omission): omission.message
        case .capturing(let path):
            UserMessage(nil, "recording in \(path); it contains positions: think before you pass it on")
        case .captureStopped(let failure): failure.message(isReceiving: true)
        case .crashed(let end): end.message
        case .targetMissed(let target, let value): target.missedMessage(measured: value)
        case .figures(let statistics, let latencies): UserMessage(nil, latencies.text(statistics))
        case .traffic(let path, let isInbound, let bytes):
            UserMessage(nil, "\(path) \(isInbound ? "in" : "out") \(bytes.count) bytes: \(bytes.hexadecimalText)")
        case .modem(let path, let notice): notice.message(port: path)
        case .renewing(let path, let deviceID):
            UserMessage(nil, "\(path) is opened again and its radio set up anew, because \(collarName(deviceID)) is not heard")
        case .host(let notice): notice.message
        case .repeated(let notice, let leftOutCount): notice.message.after(leftOutCount)
        }
    }
}

extension UserMessage {
    /// The message after others of its kind that were left out.
    fileprivate func after(_ leftOutCount: Int) -> UserMessage {
        var message = self
        message.reason += " (\(leftOutCount) message\(leftOutCount == 1 ? "" : "s") of this kind \(leftOutCount == 1 ? "was" : "were") left out)"
        return message
    }

    fileprivate static func waitingForRadio(_ others: [SerialDevice], _ source: DeviceMonitor.Source) -> UserMessage {
        // No mark of a rule is seen without udevd's data, so only the product's name counts.
        guard source != .kernel else {
            return UserMessage(
                nil,
                "no collar radio is plugged in; waiting for one whose product name begins with CollarLink, because marks are "
                    + "not seen: udevd does not run here, or /run/udev is not visible; "
                    + (others.isEmpty ? "there is no other serial device" : "other serial devices:"),
                "Name a port with `--port PATH`, or start the container with `-v /run/udev:/run/udev:ro --network host`.")
        }
        return UserMessage(
            nil,
            "no collar radio is plugged in; waiting for one (udev property COLLAR_LINK=1); "
                + (others.isEmpty ? "there is no other serial device" : "serial devices that are not marked as one:"),
            others.first(where: \.isUnmarkedAdapter).map { adapter in
                "Mark a radio once with `\(ShellCommand("collar-link", "mark", adapter.node).text)`, name a port with `--port PATH`, or plug a "
                    + "collar radio in."
            } ?? "Name a port with `--port PATH`, or plug a collar radio in.")
    }

    fileprivate static func unreachable(path: String, reason: String, isTriedAgain: Bool) -> UserMessage {
        UserMessage(
            .radioUnreachable, "\(path) cannot be reached: \(reason)\(isTriedAgain ? "; it is tried again" : "")",
            "Check that ser2net, socat or the bridge runs there, and that no firewall is in the way.")
    }
}
