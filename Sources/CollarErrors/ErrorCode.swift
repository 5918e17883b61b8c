/// The codes by which programs recognize errors: the `code` of an `error` line or of a rejected request. The meaning of a
/// code never changes; a later version may have more codes.
///
/// `Protocol/ERRORS.md` says what triggers each code.
public struct ErrorCode: RawRepresentable, Hashable, CaseIterable, Sendable {
    // Ports and radios.

    /// No radio is plugged in, or nothing is at the path of a port.
    public static let noDevice = ErrorCode("no_device", "No device", .connectivity, .warning, .retryable, .noDevice)
    /// Another program has the port open.
    public static let deviceInUse = ErrorCode("device_in_use", "Radio in use", .connectivity, .critical, .retryable, .portBusy)
    /// The user is not allowed to open the port or the state directory.
    public static let permissionDenied = ErrorCode("permission_denied", "Permission denied", .connectivity, .critical, .retryable, .noPermission)
    /// The path of a port leads to something other than a terminal.
    public static let notASerialPort = ErrorCode("not_a_serial_port", "Not a serial port", .connectivity, .critical, .lasting, .configuration)
    /// The system refuses to set the port up.
    public static let portFailed = ErrorCode("port_failed", "Port cannot be set up", .connectivity, .error, .retryable, .inputOutput)
    /// udev cannot be queried for devices.
    public static let discoveryFailed = ErrorCode("discovery_failed", "Devices cannot be discovered", .connectivity, .error, .retryable, .inputOutput)
    /// The radio takes no bytes, so frames to collars are dropped.
    public static let messageSendFailed = ErrorCode("message_send_failed", "Radio takes nothing", .connectivity, .error, .retryable)
    /// No region is set, so a stick's radio transmits nothing.
    public static let regionMissing = ErrorCode("region_missing", "No region set", .connectivity, .critical, .lasting)
    /// A stick's radio does not hold a setting.
    public static let radioSettingRefused = ErrorCode("radio_setting_refused", "Radio refuses a setting", .connectivity, .error, .lasting)
    /// A stick restarted and forgot its settings.
    public static let radioRestarted = ErrorCode("radio_restarted", "Radio restarted", .connectivity, .warning, .retryable)
    /// A stick does not answer.
    public static let radioNotAnswering = ErrorCode("radio_not_answering", "Radio does not answer", .connectivity, .error, .retryable)
    /// A stick takes frames and sends none of them.
    public static let radioNotSending = ErrorCode("radio_not_sending", "Radio sends nothing", .connectivity, .error, .retryable)
    /// A stick is busy, or its queue is full.
    public static let radioBusy = ErrorCode("radio_busy", "Radio busy", .connectivity, .warning, .retryable)
    /// A radio hears packets, and none of them is a frame.
    public static let foreignPackets = ErrorCode("foreign_packets", "Foreign packets", .connectivity, .warning, .retryable)
    /// A stick reports a fault.
    public static let radioFault = ErrorCode("radio_fault", "Radio faulty", .connectivity, .error, .retryable)
    /// The duty cycle of the region is used up.
    public static let dutyCycleReached = ErrorCode("duty_cycle_reached", "No airtime left", .performance, .warning, .retryable)
    /// A frame has more airtime than the region allows.
    public static let dwellTimeExceeded = ErrorCode("dwell_time_exceeded", "Frame too long for the region", .performance, .error, .lasting)
    /// The machine of a remote radio cannot be reached.
    public static let radioUnreachable = ErrorCode("radio_unreachable", "Radio cannot be reached", .connectivity, .error, .retryable, .noDevice)
    /// Something other than a known stick is at a port.
    public static let unknownRadio = ErrorCode("unknown_radio", "Unknown radio", .connectivity, .critical, .lasting)

    // The session with a collar.

    /// No collar has identified itself in time after a port was opened; at a line a second.
    public static let sessionNotEstablished = ErrorCode("session_not_established", "No session yet", .connectivity, .warning, .retryable)
    /// No collar has identified itself in time after a port was opened: at a line five seconds, at a stick a heartbeat and the time of four polls.
    public static let sessionTimeout = ErrorCode("session_timeout", "No collar in time", .connectivity, .warning, .retryable)
    /// Frames of another version of the protocol come in.
    public static let linkNotSupported = ErrorCode("link_not_supported", "Protocol not supported", .connectivity, .critical, .lasting)
    /// The collar belongs to another receiver.
    public static let pairedElsewhere = ErrorCode("paired_elsewhere", "Collar belongs to another receiver", .connectivity, .critical, .lasting, .noPermission)
    /// Nothing was heard of a collar for several heartbeat intervals.
    public static let collarNotReachable = ErrorCode("collar_not_reachable", "Collar not reachable", .connectivity, .warning, .retryable)
    /// Many expected frames in a row did not come.
    public static let linkUnhealthy = ErrorCode("link_unhealthy", "Link unhealthy", .connectivity, .error, .retryable)

    // Positions.

    /// The collar determines no positions: tracking or its GNSS receiver is off.
    public static let locationServicesDisabled = ErrorCode("location_services_disabled", "Positions are switched off", .collarLocation, .critical, .lasting)
    /// The collar's GNSS receiver has a fault.
    public static let locationUpdateFailed = ErrorCode("location_update_failed", "GNSS receiver faulty", .collarLocation, .error, .retryable)
    /// A fix was received intact, but its content is impossible.
    public static let locationDecodingFailed = ErrorCode("location_decoding_failed", "Fix cannot be decoded", .collarLocation, .error, .retryable)
    /// The collar is heard, but has sent no fix.
    public static let noLocationData = ErrorCode("no_location_data", "No position yet", .collarLocation, .info, .retryable)
    /// The collar is heard, but has sent no fix for a long time.
    public static let staleLocationData = ErrorCode("stale_location_data", "Position is old", .collarLocation, .info, .retryable)
    /// The horizontal accuracy of the newest fix is worse than 50 m.
    public static let poorGPSAccuracy = ErrorCode("poor_gps_accuracy", "Position is inaccurate", .collarLocation, .info, .lasting)

    /// The collar reports an error of its own, other than one of its GNSS receiver.
    public static let collarFault = ErrorCode("collar_fault", "Collar reports an error", .collarLocation, .error, .retryable)
    /// The battery of a collar is low.
    public static let batteryLow = ErrorCode("battery_low", "Battery low", .power, .warning, .lasting)
    /// The battery of a collar is almost empty.
    public static let batteryCritical = ErrorCode("battery_critical", "Battery almost empty", .power, .error, .lasting)

    // Storage.

    /// Nothing can be stored in the journal of a collar.
    public static let storageFailing = ErrorCode("storage_failing", "Storage failing", .collarLocation, .critical, .retryable, .inputOutput)
    /// The journal of a collar, or the state directory, cannot be opened or created.
    public static let journalUnavailable = ErrorCode("journal_unavailable", "Journal cannot be opened", .collarLocation, .critical, .retryable, .cannotCreate)
    /// The journal of a collar cannot be read back.
    public static let journalUnreadable = ErrorCode("journal_unreadable", "Journal cannot be read", .collarLocation, .error, .retryable)
    /// Part of a journal is damaged.
    public static let journalDamaged = ErrorCode("journal_damaged", "Journal damaged", .collarLocation, .error, .lasting)
    /// Another process has the state directory open.
    public static let stateInUse = ErrorCode("state_in_use", "State directory in use", .collarLocation, .critical, .retryable, .portBusy)
    /// The state directory cannot be used as it is; for example, other users can write to it, or its format is a later one.
    public static let stateUnusable = ErrorCode("state_unusable", "State directory cannot be used", .collarLocation, .critical, .lasting, .configuration)
    /// The state directory does not hold a receiver's identity.
    public static let noReceiver = ErrorCode("no_receiver", "No receiver", .collarLocation, .critical, .lasting, .noInput)
    /// The state directory was copied or moved to another disk, so this program is not the receiver that wrote the journal.
    public static let receiverCopied = ErrorCode("receiver_copied", "Another receiver than before", .collarLocation, .error, .lasting)
    /// Old fixes were removed although a reader had not taken them.
    public static let removedUnread = ErrorCode("removed_unread", "Old fixes were removed unread", .collarLocation, .warning, .lasting)
    /// The file of a named reader is damaged.
    public static let readerUnusable = ErrorCode("reader_unusable", "A reader's position is damaged", .collarLocation, .critical, .lasting, .corruptInput)
    /// Old fixes cannot be removed.
    public static let oldFixesKept = ErrorCode("old_fixes_kept", "Old fixes cannot be removed", .collarLocation, .warning, .retryable)
    /// The file of requests to a collar is damaged.
    public static let requestsDamaged = ErrorCode("requests_damaged", "Requests damaged", .connectivity, .error, .lasting)
    /// Requests to a collar cannot be stored.
    public static let requestsFailing = ErrorCode("requests_failing", "Requests cannot be stored", .connectivity, .error, .retryable)
    /// The fix from which the lines should begin does not exist.
    public static let unknownFix = ErrorCode("unknown_fix", "Fix not found", .collarLocation, .critical, .lasting, .noInput)

    // Collars that misbehave.

    /// A fix was received again with different content.
    public static let fixChanged = ErrorCode("fix_changed", "Collar misbehaves", .collarLocation, .warning, .lasting)
    /// The sequence of a collar jumped too far ahead.
    public static let sequenceJumped = ErrorCode("sequence_jumped", "Collar misbehaves", .collarLocation, .warning, .lasting)
    /// A log has more gaps, or a collar has more logs, than the journal tracks.
    public static let tooManyGaps = ErrorCode("too_many_gaps", "Collar misbehaves", .performance, .warning, .lasting)
    /// A collar names more logs than are kept in memory.
    public static let tooManyLogs = ErrorCode("too_many_logs", "Collar misbehaves", .performance, .warning, .lasting)
    /// A collar polls more often than it is answered, and sends nothing new.
    public static let tooManyPolls = ErrorCode("too_many_polls", "Collar misbehaves", .connectivity, .warning, .lasting)
    /// A collar reports more losses than are shown one by one.
    public static let tooManyLosses = ErrorCode("too_many_losses", "Collar misbehaves", .collarLocation, .warning, .lasting)
    /// A new collar is heard, but the number of journals has reached its limit.
    public static let tooManyCollars = ErrorCode("too_many_collars", "Collar not accepted", .performance, .warning, .lasting)
    /// New collars come faster than they are accepted.
    public static let tooManyNewCollars = ErrorCode("too_many_new_collars", "Collar not accepted", .performance, .warning, .retryable)
    /// Unknown collars poll more often than the host sends identity requests.
    public static let tooManyUnknownPolls = ErrorCode("too_many_unknown_polls", "Unknown collars poll too often", .connectivity, .warning, .lasting)

    // Keys.

    /// A collar sends sealed frames, and there is no key here.
    public static let keyMissing = ErrorCode("key_missing", "No key", .connectivity, .warning, .lasting)
    /// A collar sends sealed frames, and no key here opens them.
    public static let keyRejected = ErrorCode("key_rejected", "Key does not fit", .connectivity, .warning, .lasting)
    /// A collar had a key, and its key is gone.
    public static let keyLost = ErrorCode("key_lost", "Key is gone", .connectivity, .critical, .lasting)
    /// A collar with a key counts fewer boots than before.
    public static let collarRestarted = ErrorCode("collar_restarted", "Collar counts too few boots", .connectivity, .critical, .lasting)
    /// Frames in clear name a collar that has a key.
    public static let forgeryAttempted = ErrorCode("forgery_attempted", "Somebody may pass for the collar", .connectivity, .warning, .lasting)
    /// The keys of the collars cannot be read or stored.
    public static let keyUnusable = ErrorCode("key_unusable", "Keys cannot be used", .connectivity, .critical, .lasting, .configuration)

    // Requests that are rejected.

    /// The request is not understood.
    public static let badRequest = ErrorCode("bad_request", "Request not understood", .connectivity, .error, .lasting, .software)
    /// The user is not allowed to send requests.
    public static let notPermitted = ErrorCode("not_permitted", "Requests not permitted", .connectivity, .error, .lasting, .noPermission)
    /// The named collar was never heard here.
    public static let unknownCollar = ErrorCode("unknown_collar", "Collar not known", .connectivity, .error, .retryable, .noInput)
    /// No collar was ever heard here.
    public static let noCollar = ErrorCode("no_collar", "Collar not known", .connectivity, .error, .retryable, .noInput)
    /// The request names no collar, and there are several.
    public static let whichCollar = ErrorCode("which_collar", "Several collars", .connectivity, .error, .lasting, .usage)
    /// The collar belongs to nobody, because this receiver released it.
    public static let notPaired = ErrorCode("not_paired", "Collar belongs to nobody", .connectivity, .error, .lasting, .noPermission)
    /// No radio is open, and the mode of the request is `now`.
    public static let noRadio = ErrorCode("no_radio", "No radio", .connectivity, .error, .retryable, .noDevice)
    /// The collar is not heard, and the mode of the request is `now`.
    public static let noContact = ErrorCode("no_contact", "No contact", .connectivity, .error, .retryable, .noDevice)
    /// Too many requests are queued for the collar.
    public static let queueFull = ErrorCode("queue_full", "Too many requests", .connectivity, .error, .retryable, .portBusy)
    /// The collar's settings already have the highest possible version.
    public static let noVersion = ErrorCode("no_version", "No settings version left", .connectivity, .error, .lasting, .configuration)
    /// No request with this id is known.
    public static let unknownRequest = ErrorCode("unknown_request", "Request not known", .connectivity, .error, .lasting, .portBusy)
    /// Too many programs are connected.
    public static let tooManyClients = ErrorCode("too_many_clients", "Too many programs", .performance, .error, .retryable, .portBusy)
    /// A program waits for too many results.
    public static let tooManyRequests = ErrorCode("too_many_requests", "Too many requests", .performance, .error, .retryable, .portBusy)

    // The program itself.

    /// A capture cannot be written.
    public static let captureFailing = ErrorCode("capture_failing", "Capture cannot be written", .connectivity, .error, .lasting, .cannotCreate)
    /// A file is not a capture, or a damaged one.
    public static let captureDamaged = ErrorCode("capture_damaged", "Capture is damaged", .connectivity, .error, .lasting, .corruptInput)
    /// There is no capture at a path, or it may not be read.
    public static let noCapture = ErrorCode("no_capture", "No capture", .connectivity, .error, .lasting, .noInput)
    /// A file with the names of animals cannot be read, or it is wrong.
    public static let animalsUnusable = ErrorCode("animals_unusable", "Names cannot be read", .collarLocation, .warning, .lasting, .configuration)
    /// Other programs cannot send requests to this program.
    public static let controlFailing = ErrorCode("control_failing", "No control socket", .connectivity, .warning, .lasting)
    /// The command that takes delivered lines has failed.
    public static let commandFailed = ErrorCode("command_failed", "The command failed", .connectivity, .error, .retryable, .noDevice)
    /// An earlier run ended in a way that nobody wanted: it crashed, or it was killed.
    public static let runCrashed = ErrorCode("run_crashed", "The last run crashed", .crash, .error, .lasting)
    /// The receiver is slower, or uses more of its machine, than it is to.
    public static let targetMissed = ErrorCode("target_missed", "Performance target missed", .performance, .warning, .retryable)
    /// Lines cannot be written.
    public static let outputFailed = ErrorCode("output_failed", "Output cannot be written", .connectivity, .critical, .retryable, .inputOutput)
    /// Anything else.
    public static let unknown = ErrorCode("unknown", "Unexpected error", .connectivity, .error, .retryable, .software)

    /// Every code, in the order of the table.
    public static let allCases: [ErrorCode] = [
        .noDevice, .deviceInUse, .permissionDenied, .notASerialPort, .portFailed, .discoveryFailed, .messageSendFailed,
        .regionMissing, .radioSettingRefused, .radioRestarted, .radioNotAnswering, .radioNotSending, .radioBusy,
        .foreignPackets, .radioFault, .dutyCycleReached, .dwellTimeExceeded, .radioUnreachable, .unknownRadio,
        .sessionNotEstablished, .sessionTimeout, .linkNotSupported, .pairedElsewhere, .collarNotReachable, .linkUnhealthy,
        .locationServicesDisabled, .locationUpdateFailed, .locationDecodingFailed, .noLocationData, .staleLocationData,
        .poorGPSAccuracy, .collarFault, .batteryLow, .batteryCritical, .storageFailing, .journalUnavailable, .journalUnreadable,
        .journalDamaged, .stateInUse, .stateUnusable, .noReceiver, .receiverCopied, .removedUnread, .readerUnusable,
        .oldFixesKept, .requestsDamaged, .requestsFailing, .unknownFix, .fixChanged, .sequenceJumped, .tooManyGaps,
        .tooManyLogs, .tooManyPolls, .tooManyLosses, .tooManyCollars, .tooManyNewCollars, .tooManyUnknownPolls, .keyMissing,
        .keyRejected, .keyLost, .collarRestarted, .forgeryAttempted, .keyUnusable, .badRequest, .notPermitted, .unknownCollar,
        .noCollar, .whichCollar, .notPaired, .noRadio, .noContact, .queueFull, .noVersion, .unknownRequest, .tooManyClients,
        .tooManyRequests, .captureFailing, .captureDamaged, .noCapture, .animalsUnusable, .controlFailing, .commandFailed,
        .runCrashed, .targetMissed, .outputFailed, .unknown
    ]

    private enum Outlook { case retryable, lasting }

    /// The code in lines.
    public let rawValue: String

    /// The error in a few words.
    public let title: String

    /// The subject of the error.
    package let category: LogCategory

    /// How severe the error is.
    public let severity: Severity

    /// Whether the same operation may succeed later, with unchanged input.
    public let isRetryable: Bool

    /// The exit code of a command that ends because of the error; nil if the error ends no command.
    public let exitCode: ExitCode?

    private init(
        _ rawValue: String, _ title: String, _ category: LogCategory, _ severity: Severity, _ outlook: Outlook, _ exitCode: ExitCode? = nil
    ) {
        self.rawValue = rawValue
        self.title = title
        self.category = category
        self.severity = severity
        isRetryable = outlook == .retryable
        self.exitCode = exitCode
    }

    /// The code with this text; nil if there is none.
    public init?(rawValue: String) {
        guard let code = ErrorCode.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = code
    }

    /// Whether both are the same code.
    public static func == (left: ErrorCode, right: ErrorCode) -> Bool { left.rawValue == right.rawValue }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

    /// How severe an error is.
    public enum Severity: String, Sendable {
        /// Worth knowing; everything works.
        case info
        /// The problem should pass by itself; if it does not, the user must do something.
        case warning
        /// Something failed.
        case error
        /// Nothing works until the user does something.
        case critical
    }

    /// The step that the person can take after a rejected request; nil if there is none.
    package var requestRemedy: String? {
        switch self {
        case .unknownCollar, .whichCollar: "Name one that is known: `--collar ID`."
        case .noCollar: "Run collar-link until it has heard the collar, or name it: `--collar ID`."
        case .pairedElsewhere: "Press its button twice, or switch it off and on, and run `collar-link send pair` within a minute."
        case .notPaired: "Run `collar-link send pair`."
        case .noRadio: "Plug the radio in, or wait for it: leave out `--now`."
        case .noContact: "Bring the collar in range, or wait for it: leave out `--now`."
        case .queueFull: "Wait until some have ended, or use `--latest`."
        case .storageFailing: "Mend what keeps the state directory from being written."
        default: nil
        }
    }
}

/// Exit codes of the tool, based on sysexits.h.
public enum ExitCode: Int32, Sendable {
    /// The command succeeded, or it ended because the reader of stdout went away, or on SIGINT, SIGTERM or SIGHUP.
    case clean = 0
    /// `doctor` finds nothing but what deserves attention.
    case warnings = 1
    /// The command line does not make sense.
    case usage = 64
    /// An input file is not valid, or a collar finds a value invalid.
    case corruptInput = 65
    /// An input file does not exist or cannot be read, or a named collar or fix is unknown.
    case noInput = 66
    /// There is no device, and the user does not want to wait; or a collar cannot do what was asked.
    case noDevice = 69
    /// A fault of this program.
    case software = 70
    /// An output cannot be created.
    case cannotCreate = 73
    /// Reading or writing failed; or a collar tried what was asked, and failed.
    case inputOutput = 74
    /// The port is in use, or a request to a collar has no result yet. Trying again later may help.
    case portBusy = 75
    /// The user is not allowed to open a file or port; or a collar refuses the request.
    case noPermission = 77
    /// The port or the state directory is not set up as it must be; or the version of a collar's settings rules out the update.
    case configuration = 78
}
