import CollarErrors

/// The codes by which programs recognize what `doctor` finds, in the order in which findings are fixed. The meaning of a code
/// never changes; `Protocol/FINDINGS.md` describes each. A code that is also an ``ErrorCode`` means the same fault.
package enum FindingCode: String, CaseIterable, Sendable {
    // The machine.

    case clockWrong = "clock_wrong"
    case noUSBInWindows = "wsl_without_usb"
    /// The program runs in a network namespace of its own, in which no events of devices arrive.
    case networkNamespace = "network_namespace"
    /// udevd does not run, or cannot be reached from a container.
    case udevNotRunning = "udev_not_running"

    // The rules.

    case ruleMissing = "rule_missing"
    case ruleOutdated = "rule_outdated"
    case ruleMisplaced = "rule_misplaced"
    case ruleNotApplied = "rule_not_applied"

    // The port.

    /// No radio is plugged in, or nothing is at the path of a port.
    case noDevice = "no_device"
    /// The kernel has the device, and there is no node for it.
    case nodeMissing = "node_missing"
    /// There is a node, and the kernel has no device for it.
    case nodeStale = "node_stale"
    case notASerialPort = "not_a_serial_port"
    case permissionDenied = "permission_denied"
    case onlyWhileSeated = "only_while_seated"
    case confined
    case deviceInUse = "device_in_use"
    case portClaimed = "port_claimed"
    case consoleOnPort = "console_on_port"
    /// Something other than a known stick is at the port.
    case unknownRadio = "unknown_radio"

    // The settings.

    case configurationWrong = "configuration_wrong"
    case regionMissing = "region_missing"
    case radioSettingRefused = "radio_setting_refused"

    // The state directory.

    case stateUnusable = "state_unusable"
    /// The state directory cannot be created or written.
    case journalUnavailable = "journal_unavailable"
    /// The disk of the state directory is full.
    case storageFailing = "storage_failing"
    case diskNearlyFull = "disk_nearly_full"
    case stateVolatile = "state_volatile"
    case keyExposed = "key_exposed"
    case keyUnusable = "key_unusable"

    // The running receiver, and what it reported.

    case receiverSilent = "receiver_silent"
    /// The program file was replaced since the receiver began.
    case receiverOutdated = "receiver_outdated"
    case pairedElsewhere = "paired_elsewhere"
    /// A collar sends sealed frames, and there is no key here.
    case keyMissing = "key_missing"
    /// A collar sends sealed frames, and no key here opens them.
    case keyRejected = "key_rejected"
    case keyLost = "key_lost"
    /// A collar with a key counts fewer boots than before.
    case collarRestarted = "collar_restarted"

    // The USB device.

    case radioRestarted = "radio_restarted"
    case disconnectLoop = "disconnect_loop"
    case usbErrors = "usb_errors"
    /// The kernel may suspend the USB device while it is in use.
    case autosuspend
    /// The adapter collects bytes for a time before it hands them over.
    case latencyTimer = "latency_timer"
    case serialShared = "serial_shared"
    case serialMissing = "serial_missing"
    /// A USB 3 device is beside the radio.
    case usb3Noise = "usb3_noise"

    package var severity: ErrorCode.Severity { row.severity }

    /// The exit code of `doctor` where this is the first error; of no meaning for a finding that is no error.
    package var exitCode: ExitCode { row.exitCode }

    private var row: (severity: ErrorCode.Severity, exitCode: ExitCode) {
        switch self {
        case .clockWrong, .ruleMissing, .ruleNotApplied, .consoleOnPort, .configurationWrong: (.error, .configuration)
        case .noUSBInWindows, .nodeMissing, .nodeStale: (.error, .noDevice)
        case .keyExposed: (.error, .noPermission)
        case .udevNotRunning, .ruleOutdated, .ruleMisplaced, .confined, .portClaimed, .diskNearlyFull,
            .stateVolatile, .receiverSilent, .receiverOutdated, .disconnectLoop, .usbErrors, .autosuspend, .latencyTimer,
            .serialShared:
            (.warning, .warnings)
        case .networkNamespace, .onlyWhileSeated, .serialMissing, .usb3Noise: (.info, .clean)
        case .noDevice, .notASerialPort, .permissionDenied, .deviceInUse, .unknownRadio, .regionMissing, .radioSettingRefused,
            .stateUnusable, .journalUnavailable, .storageFailing, .keyUnusable, .pairedElsewhere, .keyMissing, .keyRejected,
            .keyLost, .collarRestarted, .radioRestarted:
            (sharedCode?.severity ?? .error, sharedCode?.exitCode ?? .configuration)
        }
    }

    /// The error code that means the same fault.
    private var sharedCode: ErrorCode? { ErrorCode(rawValue: rawValue) }
}
