import CollarErrors

/// The codes by which programs recognize what `doctor` finds, in the order in which findings are fixed. The meaning of a code
/// never changes. A code that is also an ``ErrorCode`` means the same fault. The comment of each says what triggers it;
/// `Tools/tables` writes the table of `Protocol/FINDINGS.md` from here.
package enum FindingCode: String, CaseIterable, Sendable {
    // The machine.

    /// The clock shows a time before 2026 or after 2099.
    case clockWrong = "clock_wrong"
    /// The kernel is the one of Windows' subsystem for Linux, and no USB adapter is there.
    case noUSBInWindows = "wsl_without_usb"
    /// udevd runs, and no socket in the process's network namespace hears the kernel as udevd does: its events do not arrive, and the
    /// files of its database tell of changes.
    case networkNamespace = "network_namespace"
    /// There is no `/run/udev/control`: udevd does not run, or a container does not see it.
    case udevNotRunning = "udev_not_running"

    // The rules.

    /// No rule file has the rule of `hardware/udev/70-collar-link.rules`. Not in containers: there the rules of the machine outside
    /// count.
    case ruleMissing = "rule_missing"
    /// The installed rule lacks a part of the rule of this version.
    case ruleOutdated = "rule_outdated"
    /// The number of the rule's file is not below 73.
    case ruleMisplaced = "rule_misplaced"
    /// A device is marked by a rule file, and udev's database does not have the mark.
    case ruleNotApplied = "rule_not_applied"

    // The port.

    /// No radio is marked, and no port named; or nothing is at the path of a named port.
    case noDevice = "no_device"
    /// The kernel has the device, and `/dev` has no node for it.
    case nodeMissing = "node_missing"
    /// A named port is a device node whose number the kernel does not have.
    case nodeStale = "node_stale"
    /// The path of a named port leads to something else than a terminal.
    case notASerialPort = "not_a_serial_port"
    /// The user may not open a port, or not write to the state directory: not in the group, in the group since this session began, in
    /// the group and kept out by a mode that was changed by hand, only the owner may, the owner is kept out by the mode, a directory on
    /// the way is closed, or a container or security module refuses.
    case permissionDenied = "permission_denied"
    /// The user may open a port by an access list alone.
    case onlyWhileSeated = "only_while_seated"
    /// Snap confines the program; or AppArmor refused it something within the last hour.
    case confined
    /// Another process than the receiver of the state directory has the port open.
    case deviceInUse = "device_in_use"
    /// ModemManager runs, and udev does not keep it from the port; gpsd is set up to start for the port; or a rule of brltty claims the
    /// adapter.
    case portClaimed = "port_claimed"
    /// The kernel's console, or a login, is on the port.
    case consoleOnPort = "console_on_port"
    /// The USB device at the port is a GNSS receiver or a bootloader; or the receiver reported a stranger at it.
    case unknownRadio = "unknown_radio"

    // The settings.

    /// A line of a configuration file, or a radio option, is wrong.
    case configurationWrong = "configuration_wrong"
    /// The firmware of a stick, as configured or as found before, needs a region, and none is set.
    case regionMissing = "region_missing"
    /// The receiver reported it.
    case radioSettingRefused = "radio_setting_refused"

    // The state directory.

    /// The state directory belongs to another user, others may write to it, or its receiver has moved away.
    case stateUnusable = "state_unusable"
    /// The disk of the state directory is read-only, or something that is no directory is in its place.
    case journalUnavailable = "journal_unavailable"
    /// The disk of the state directory has less than 1 MiB, or no file, free.
    case storageFailing = "storage_failing"
    /// It has less than 64 MiB, or 64 files, free.
    case diskNearlyFull = "disk_nearly_full"
    /// The state directory, or the file of a collar, is in memory, or in the layer of a container that is removed with it.
    case stateVolatile = "state_volatile"
    /// Other users may read or change the file of a collar's key, or the file of a collar.
    case keyExposed = "key_exposed"
    /// This user may not read it, or its name has capitals.
    case keyUnusable = "key_unusable"

    /// The file of a collar is missing or is no file, or this user may not write to it.
    case collarUnusable = "collar_unusable"

    // The running receiver, and what it reported.

    /// The running receiver does not answer within 2 s.
    case receiverSilent = "receiver_silent"
    /// The program file of the running receiver was replaced.
    case receiverOutdated = "receiver_outdated"
    /// The receiver reported it.
    case pairedElsewhere = "paired_elsewhere"
    /// The receiver reported it.
    case keyMissing = "key_missing"
    /// The receiver reported it.
    case keyRejected = "key_rejected"
    /// The receiver reported it.
    case keyLost = "key_lost"
    /// The receiver reported it.
    case collarRestarted = "collar_restarted"

    // The USB device.

    /// The receiver reported three restarts of a stick within an hour: opening or closing the port resets the board (DTR), or its power
    /// fails.
    case radioRestarted = "radio_restarted"
    /// The kernel's log has three disconnections of the radio's USB device within an hour; of any USB device where no radio is plugged
    /// in.
    case disconnectLoop = "disconnect_loop"
    /// The kernel's log has errors of the USB device within an hour.
    case usbErrors = "usb_errors"
    /// The kernel may suspend the radio's USB device.
    case autosuspend
    /// The receiver has the port open, and the latency timer of the FTDI adapter is above 1 ms. (The receiver sets it to 1 when it
    /// opens the port.)
    case latencyTimer = "latency_timer"
    /// Another adapter of the kind has the same serial number, and the mark is not by the socket.
    case serialShared = "serial_shared"
    /// The adapter has no serial number, or one that many have.
    case serialMissing = "serial_missing"
    /// A USB 3 device is at the same controller as the radio.
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
            .stateUnusable, .journalUnavailable, .storageFailing, .keyUnusable, .collarUnusable, .pairedElsewhere, .keyMissing, .keyRejected,
            .keyLost, .collarRestarted, .radioRestarted:
            (sharedCode?.severity ?? .error, sharedCode?.exitCode ?? .configuration)
        }
    }

    /// The error code that means the same fault.
    private var sharedCode: ErrorCode? { ErrorCode(rawValue: rawValue) }
}
