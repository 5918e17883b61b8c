/// The codes by which programs recognize errors: the `code` of an `error` line or of a rejected request. The meaning of a
/// code never changes.
///
/// `Protocol/ERRORS.md` says what triggers each code.
public enum ErrorCode: String, CaseIterable, Sendable {
    // Ports and radios.

    /// No radio is plugged in, or nothing is at the path of a port.
    case noDevice = "no_device"
    /// Another program has the port open.
    case deviceInUse = "device_in_use"
    /// The user is not allowed to open the port or the state directory.
    case permissionDenied = "permission_denied"
    /// The path of a port leads to something other than a terminal.
    case notASerialPort = "not_a_serial_port"
    /// The system refuses to set the port up.
    case portFailed = "port_failed"
    /// udev cannot be queried for devices.
    case discoveryFailed = "discovery_failed"
    /// The radio takes no bytes, so frames to collars are dropped.
    case messageSendFailed = "message_send_failed"
    /// No region is set, so a stick's radio transmits nothing.
    case regionMissing = "region_missing"
    /// A stick's radio does not hold a setting.
    case radioSettingRefused = "radio_setting_refused"
    /// A stick restarted and forgot its settings.
    case radioRestarted = "radio_restarted"
    /// A stick does not answer.
    case radioNotAnswering = "radio_not_answering"
    /// A stick takes frames and sends none of them.
    case radioNotSending = "radio_not_sending"
    /// A stick is busy, or its queue is full.
    case radioBusy = "radio_busy"
    /// A radio hears packets, and none of them is a frame.
    case foreignPackets = "foreign_packets"
    /// A stick reports a fault.
    case radioFault = "radio_fault"
    /// The duty cycle of the region is used up.
    case dutyCycleReached = "duty_cycle_reached"
    /// A frame has more airtime than the region allows.
    case dwellTimeExceeded = "dwell_time_exceeded"
    /// The machine of a remote radio cannot be reached.
    case radioUnreachable = "radio_unreachable"
    /// Something other than a known stick is at a port.
    case unknownRadio = "unknown_radio"

    // The session with a collar.

    /// No collar has identified itself in time after a port was opened; at a line a second.
    case sessionNotEstablished = "session_not_established"
    /// No collar has identified itself in time after a port was opened: at a line five seconds, at a stick a heartbeat and the time of four polls.
    case sessionTimeout = "session_timeout"
    /// Frames of another version of the protocol come in.
    case linkNotSupported = "link_not_supported"
    /// The collar belongs to another receiver.
    case pairedElsewhere = "paired_elsewhere"
    /// Nothing was heard of a collar for several heartbeat intervals.
    case collarNotReachable = "collar_not_reachable"
    /// Many expected frames in a row did not come.
    case linkUnhealthy = "link_unhealthy"

    // Positions.

    /// The collar determines no positions: tracking or its GNSS receiver is off.
    case locationServicesDisabled = "location_services_disabled"
    /// The collar's GNSS receiver has a fault.
    case locationUpdateFailed = "location_update_failed"
    /// A fix was received intact, but its content is impossible.
    case locationDecodingFailed = "location_decoding_failed"
    /// The collar is heard, but has sent no fix.
    case noLocationData = "no_location_data"
    /// The collar is heard, but has sent no fix for a long time.
    case staleLocationData = "stale_location_data"
    /// The horizontal accuracy of the newest fix is worse than 50 m.
    case poorGPSAccuracy = "poor_gps_accuracy"

    /// The collar reports an error of its own, other than one of its GNSS receiver.
    case collarFault = "collar_fault"
    /// The battery of a collar is low.
    case batteryLow = "battery_low"
    /// The battery of a collar is almost empty.
    case batteryCritical = "battery_critical"

    // Storage.

    /// Nothing can be stored in the journal of a collar.
    case storageFailing = "storage_failing"
    /// The journal of a collar, or the state directory, cannot be opened or created.
    case journalUnavailable = "journal_unavailable"
    /// The journal of a collar cannot be read back.
    case journalUnreadable = "journal_unreadable"
    /// Part of a journal is damaged.
    case journalDamaged = "journal_damaged"
    /// Another process has the state directory open.
    case stateInUse = "state_in_use"
    /// The state directory cannot be used as it is; for example, other users can write to it, or its format is a later one.
    case stateUnusable = "state_unusable"
    /// The state directory does not hold a receiver's identity.
    case noReceiver = "no_receiver"
    /// The state directory was copied or moved to another disk, so this program is not the receiver that wrote the journal.
    case receiverCopied = "receiver_copied"
    /// Old fixes were removed although a reader had not taken them.
    case removedUnread = "removed_unread"
    /// The file of a named reader is damaged.
    case readerUnusable = "reader_unusable"
    /// Old fixes cannot be removed.
    case oldFixesKept = "old_fixes_kept"
    /// The file of requests to a collar is damaged.
    case requestsDamaged = "requests_damaged"
    /// Requests to a collar cannot be stored.
    case requestsFailing = "requests_failing"
    /// The fix from which the lines should begin does not exist.
    case unknownFix = "unknown_fix"

    // Collars that misbehave.

    /// A fix was received again with different content.
    case fixChanged = "fix_changed"
    /// The sequence of a collar jumped too far ahead.
    case sequenceJumped = "sequence_jumped"
    /// A log has more gaps, or a collar has more logs, than the journal tracks.
    case tooManyGaps = "too_many_gaps"
    /// A collar names more logs than are kept in memory.
    case tooManyLogs = "too_many_logs"
    /// A collar polls more often than it is answered, and sends nothing new.
    case tooManyPolls = "too_many_polls"
    /// A collar reports more losses than are shown one by one.
    case tooManyLosses = "too_many_losses"
    /// A new collar is heard, but the number of journals has reached its limit.
    case tooManyCollars = "too_many_collars"
    /// New collars come faster than they are accepted.
    case tooManyNewCollars = "too_many_new_collars"
    /// Unknown collars poll more often than the host sends identity requests.
    case tooManyUnknownPolls = "too_many_unknown_polls"

    // Keys.

    /// A collar sends sealed frames, and there is no key here.
    case keyMissing = "key_missing"
    /// A collar sends sealed frames, and no key here opens them.
    case keyRejected = "key_rejected"
    /// A collar had a key, and its key is gone.
    case keyLost = "key_lost"
    /// A collar with a key counts fewer boots than before.
    case collarRestarted = "collar_restarted"
    /// Frames in clear name a collar that has a key.
    case forgeryAttempted = "forgery_attempted"
    /// The keys of the collars cannot be read or stored.
    case keyUnusable = "key_unusable"

    // Requests that are rejected.

    /// The request is not understood.
    case badRequest = "bad_request"
    /// The user is not allowed to send requests.
    case notPermitted = "not_permitted"
    /// The named collar was never heard here.
    case unknownCollar = "unknown_collar"
    /// No collar was ever heard here.
    case noCollar = "no_collar"
    /// The request names no collar, and there are several.
    case whichCollar = "which_collar"
    /// The collar belongs to nobody, because this receiver released it.
    case notPaired = "not_paired"
    /// No radio is open, and the mode of the request is `now`.
    case noRadio = "no_radio"
    /// The collar is not heard, and the mode of the request is `now`.
    case noContact = "no_contact"
    /// Too many requests are queued for the collar.
    case queueFull = "queue_full"
    /// The collar's settings already have the highest possible version.
    case noVersion = "no_version"
    /// No request with this id is known.
    case unknownRequest = "unknown_request"
    /// Too many programs are connected.
    case tooManyClients = "too_many_clients"
    /// A program waits for too many results.
    case tooManyRequests = "too_many_requests"

    // The program itself.

    /// A capture cannot be written.
    case captureFailing = "capture_failing"
    /// A file is not a capture, or a damaged one.
    case captureDamaged = "capture_damaged"
    /// There is no capture at a path, or it may not be read.
    case noCapture = "no_capture"
    /// A file with the names of animals cannot be read, or it is wrong.
    case animalsUnusable = "animals_unusable"
    /// Other programs cannot send requests to this program.
    case controlFailing = "control_failing"
    /// The command that takes delivered lines has failed.
    case commandFailed = "command_failed"
    /// An earlier run ended in a way that nobody wanted: it crashed, or it was killed.
    case runCrashed = "run_crashed"
    /// The receiver is slower, or uses more of its machine, than it is to.
    case targetMissed = "target_missed"
    /// Lines cannot be written.
    case outputFailed = "output_failed"
    /// Anything else.
    case unknown

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

    /// The error in a few words.
    public var title: String { row.title }

    /// The subject of the error.
    package var category: LogCategory { row.category }

    /// How severe the error is.
    public var severity: Severity { row.severity }

    /// Whether the same operation may succeed later, with unchanged input.
    public var isRetryable: Bool { row.isRetryable }

    /// The exit code of a command that ends because of the error; nil if the error ends no command.
    public var exitCode: ExitCode? { row.exitCode }

    private typealias Row = (title: String, category: LogCategory, severity: Severity, isRetryable: Bool, exitCode: ExitCode?)

    private var row: Row {
        switch self {
        case .noDevice: ("No device", .connectivity, .warning, true, .noDevice)
        case .deviceInUse: ("Radio in use", .connectivity, .critical, true, .portBusy)
        case .permissionDenied: ("Permission denied", .connectivity, .critical, true, .noPermission)
        case .notASerialPort: ("Not a serial port", .connectivity, .critical, false, .configuration)
        case .portFailed: ("Port cannot be set up", .connectivity, .error, true, .inputOutput)
        case .discoveryFailed: ("Devices cannot be discovered", .connectivity, .error, true, .inputOutput)
        case .messageSendFailed: ("Radio takes nothing", .connectivity, .error, true, nil)
        case .regionMissing: ("No region set", .connectivity, .critical, false, nil)
        case .radioSettingRefused: ("Radio refuses a setting", .connectivity, .error, false, nil)
        case .radioRestarted: ("Radio restarted", .connectivity, .warning, true, nil)
        case .radioNotAnswering: ("Radio does not answer", .connectivity, .error, true, nil)
        case .radioNotSending: ("Radio sends nothing", .connectivity, .error, true, nil)
        case .radioBusy: ("Radio busy", .connectivity, .warning, true, nil)
        case .foreignPackets: ("Foreign packets", .connectivity, .warning, true, nil)
        case .radioFault: ("Radio faulty", .connectivity, .error, true, nil)
        case .dutyCycleReached: ("No airtime left", .performance, .warning, true, nil)
        case .dwellTimeExceeded: ("Frame too long for the region", .performance, .error, false, nil)
        case .radioUnreachable: ("Radio cannot be reached", .connectivity, .error, true, .noDevice)
        case .unknownRadio: ("Unknown radio", .connectivity, .critical, false, nil)
        case .sessionNotEstablished: ("No session yet", .connectivity, .warning, true, nil)
        case .sessionTimeout: ("No collar in time", .connectivity, .warning, true, nil)
        case .linkNotSupported: ("Protocol not supported", .connectivity, .critical, false, nil)
        case .pairedElsewhere: ("Collar belongs to another receiver", .connectivity, .critical, false, .noPermission)
        case .collarNotReachable: ("Collar not reachable", .connectivity, .warning, true, nil)
        case .linkUnhealthy: ("Link unhealthy", .connectivity, .error, true, nil)
        case .locationServicesDisabled: ("Positions are switched off", .collarLocation, .critical, false, nil)
        case .locationUpdateFailed: ("GNSS receiver faulty", .collarLocation, .error, true, nil)
        case .locationDecodingFailed: ("Fix cannot be decoded", .collarLocation, .error, true, nil)
        case .noLocationData: ("No position yet", .collarLocation, .info, true, nil)
        case .staleLocationData: ("Position is old", .collarLocation, .info, true, nil)
        case .poorGPSAccuracy: ("Position is inaccurate", .collarLocation, .info, false, nil)
        case .collarFault: ("Collar reports an error", .collarLocation, .error, true, nil)
        case .batteryLow: ("Battery low", .power, .warning, false, nil)
        case .batteryCritical: ("Battery almost empty", .power, .error, false, nil)
        case .storageFailing: ("Storage failing", .collarLocation, .critical, true, .inputOutput)
        case .journalUnavailable: ("Journal cannot be opened", .collarLocation, .critical, true, .cannotCreate)
        case .journalUnreadable: ("Journal cannot be read", .collarLocation, .error, true, nil)
        case .journalDamaged: ("Journal damaged", .collarLocation, .error, false, nil)
        case .stateInUse: ("State directory in use", .collarLocation, .critical, true, .portBusy)
        case .stateUnusable: ("State directory cannot be used", .collarLocation, .critical, false, .configuration)
        case .noReceiver: ("No receiver", .collarLocation, .critical, false, .noInput)
        case .receiverCopied: ("Another receiver than before", .collarLocation, .error, false, nil)
        case .removedUnread: ("Old fixes were removed unread", .collarLocation, .warning, false, nil)
        case .readerUnusable: ("A reader's position is damaged", .collarLocation, .critical, false, .corruptInput)
        case .oldFixesKept: ("Old fixes cannot be removed", .collarLocation, .warning, true, nil)
        case .requestsDamaged: ("Requests damaged", .connectivity, .error, false, nil)
        case .requestsFailing: ("Requests cannot be stored", .connectivity, .error, true, nil)
        case .unknownFix: ("Fix not found", .collarLocation, .critical, false, .noInput)
        case .fixChanged: ("Collar misbehaves", .collarLocation, .warning, false, nil)
        case .sequenceJumped: ("Collar misbehaves", .collarLocation, .warning, false, nil)
        case .tooManyGaps: ("Collar misbehaves", .performance, .warning, false, nil)
        case .tooManyLogs: ("Collar misbehaves", .performance, .warning, false, nil)
        case .tooManyPolls: ("Collar misbehaves", .connectivity, .warning, false, nil)
        case .tooManyLosses: ("Collar misbehaves", .collarLocation, .warning, false, nil)
        case .tooManyCollars: ("Collar not accepted", .performance, .warning, false, nil)
        case .tooManyNewCollars: ("Collar not accepted", .performance, .warning, true, nil)
        case .tooManyUnknownPolls: ("Unknown collars poll too often", .connectivity, .warning, false, nil)
        case .keyMissing: ("No key", .connectivity, .warning, false, nil)
        case .keyRejected: ("Key does not fit", .connectivity, .warning, false, nil)
        case .keyLost: ("Key is gone", .connectivity, .critical, false, nil)
        case .collarRestarted: ("Collar counts too few boots", .connectivity, .critical, false, nil)
        case .forgeryAttempted: ("Somebody may pass for the collar", .connectivity, .warning, false, nil)
        case .keyUnusable: ("Keys cannot be used", .connectivity, .critical, false, .configuration)
        case .badRequest: ("Request not understood", .connectivity, .error, false, .software)
        case .notPermitted: ("Requests not permitted", .connectivity, .error, false, .noPermission)
        case .unknownCollar: ("Collar not known", .connectivity, .error, true, .noInput)
        case .noCollar: ("Collar not known", .connectivity, .error, true, .noInput)
        case .whichCollar: ("Several collars", .connectivity, .error, false, .usage)
        case .notPaired: ("Collar belongs to nobody", .connectivity, .error, false, .noPermission)
        case .noRadio: ("No radio", .connectivity, .error, true, .noDevice)
        case .noContact: ("No contact", .connectivity, .error, true, .noDevice)
        case .queueFull: ("Too many requests", .connectivity, .error, true, .portBusy)
        case .noVersion: ("No settings version left", .connectivity, .error, false, .configuration)
        case .unknownRequest: ("Request not known", .connectivity, .error, false, .portBusy)
        case .tooManyClients: ("Too many programs", .performance, .error, true, .portBusy)
        case .tooManyRequests: ("Too many requests", .performance, .error, true, .portBusy)
        case .captureFailing: ("Capture cannot be written", .connectivity, .error, false, .cannotCreate)
        case .captureDamaged: ("Capture is damaged", .connectivity, .error, false, .corruptInput)
        case .noCapture: ("No capture", .connectivity, .error, false, .noInput)
        case .animalsUnusable: ("Names cannot be read", .collarLocation, .warning, false, .configuration)
        case .controlFailing: ("No control socket", .connectivity, .warning, false, nil)
        case .commandFailed: ("The command failed", .connectivity, .error, true, .noDevice)
        case .runCrashed: ("The last run crashed", .crash, .error, false, nil)
        case .targetMissed: ("Performance target missed", .performance, .warning, true, nil)
        case .outputFailed: ("Output cannot be written", .connectivity, .critical, true, .inputOutput)
        case .unknown: ("Unexpected error", .connectivity, .error, true, .software)
        }
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
