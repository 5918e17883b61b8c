/// The codes by which programs recognize errors: the `code` of an `error` line or of a rejected request. The meaning of a
/// code never changes; a later version may have more codes.
///
/// The comment of each says what triggers it. `Tools/tables` writes the tables of `Protocol/ERRORS.md` and the lists of the
/// schemas from here.
public struct ErrorCode: RawRepresentable, Hashable, CaseIterable, Sendable {
    // Ports and radios.

    /// No radio is plugged in or nothing is at the path of a port, and `--no-reconnect` is given; a device does not answer for 1 s; or
    /// another device, which is not marked, is in the place of the radio at a named port, and is not opened.
    public static let noDevice = ErrorCode("no_device", "No device", .connectivity, .warning, .retryable, .noDevice)
    /// Another program has the port open. It is tried again after 1, 4 and 9 s, then every 9 s. Or another program has opened the port
    /// without locking it, and takes bytes if it reads: looked for when the port is opened, when a program opens it after that, when
    /// one that had it open before begins to read, and, at most once a minute, when frames are damaged or missing. Where the user may
    /// not see the program, the message does not name it.
    public static let deviceInUse = ErrorCode("device_in_use", "Radio in use", .connectivity, .critical, .retryable, .portBusy)
    /// The user may not open the port or a file of the state directory. The port is opened as soon as its permissions allow it; while
    /// udevd still handles the device, there is no error for 30 s.
    public static let permissionDenied = ErrorCode("permission_denied", "Permission denied", .connectivity, .critical, .retryable, .noPermission)
    /// The path of a port leads to something else than a terminal.
    public static let notASerialPort = ErrorCode("not_a_serial_port", "Not a serial port", .connectivity, .critical, .lasting, .configuration)
    /// A system call that sets the port up fails.
    public static let portFailed = ErrorCode("port_failed", "Port cannot be set up", .connectivity, .error, .retryable, .inputOutput)
    /// The radio takes no bytes and 4096 bytes wait for it: a frame is dropped. Once until it takes all again.
    public static let messageSendFailed = ErrorCode("message_send_failed", "Radio takes nothing", .connectivity, .error, .retryable)
    /// The stick at a port runs MeshCore's, RNode or RUI3 firmware, and no region is set: nothing is transmitted; or its radio's
    /// settings are not known, and it is not used at all.
    public static let regionMissing = ErrorCode("region_missing", "No region set", .connectivity, .critical, .lasting)
    /// A stick does not confirm a setting of its radio, also when the setup is repeated once, or always sends with more power than
    /// wanted because of an amplifier, or its firmware is too old. It is not used, and is set up again after a minute; at most once a
    /// minute for each setting.
    public static let radioSettingRefused = ErrorCode("radio_setting_refused", "Radio refuses a setting", .connectivity, .error, .lasting)
    /// A stick says that it has started, or has forgotten its settings. It is set up again.
    public static let radioRestarted = ErrorCode("radio_restarted", "Radio restarted", .connectivity, .warning, .retryable)
    /// A stick leaves three questions in a row without an answer. Once until it answers.
    public static let radioNotAnswering = ErrorCode("radio_not_answering", "Radio does not answer", .connectivity, .error, .retryable)
    /// A MeshCore modem has sent none of three answers or more in a row, for at least 15 s since the first one, and answers questions,
    /// or says that it is busy: it is restarted. Reported at most once a minute.
    public static let radioNotSending = ErrorCode("radio_not_sending", "Radio sends nothing", .connectivity, .error, .retryable)
    /// A stick does not take a frame, because it or the channel is busy or its queue is full; at most once a minute.
    public static let radioBusy = ErrorCode("radio_busy", "Radio busy", .connectivity, .warning, .retryable)
    /// Packets come in at a stick, and none is a frame: after four of them, or after one that is a frame with a byte too few or too
    /// many in front. Packets below the noise do not count otherwise, and no more than 64 packets are examined. Once for each opening
    /// of the port, and only if no collar was heard there.
    public static let foreignPackets = ErrorCode("foreign_packets", "Foreign packets", .connectivity, .warning, .retryable)
    /// A stick reports a fault of its own, or refuses a frame; at most once a minute.
    public static let radioFault = ErrorCode("radio_fault", "Radio faulty", .connectivity, .error, .retryable)
    /// The answers use up the airtime of a stick: less than half is left of what the region's duty cycle allows at once; at most once an
    /// hour. If the stick sent in the hour before its port was opened, it is reported after an hour, or after 7/8 were left.
    public static let airtimeShort = ErrorCode("airtime_short", "Airtime runs short", .performance, .warning, .retryable)
    /// An answer is not sent, because the region's duty cycle is used up; at most once a minute.
    public static let dutyCycleReached = ErrorCode("duty_cycle_reached", "No airtime left", .performance, .warning, .retryable)
    /// A frame is not sent, because it would be on the air for longer than the region allows; at most once a minute.
    public static let dwellTimeExceeded = ErrorCode("dwell_time_exceeded", "Frame too long for the region", .performance, .error, .lasting)
    /// The machine of a radio at `tcp://HOST:PORT` cannot be reached. It is tried again after 1, 4 and 9 s, then every 9 s; reported
    /// once for each reason.
    public static let radioUnreachable = ErrorCode("radio_unreachable", "Radio cannot be reached", .connectivity, .error, .retryable, .noDevice)
    /// The device at a port is neither a known stick nor one that carries the serial line of the protocol: a GNSS receiver, a
    /// bootloader, Meshtastic, another modem, text, bytes without frames, or a stick that has fallen silent. Nothing is sent to it. It
    /// is examined again every 30 s, and at once when a known stick or a frame shows itself; it is reported again if it looks
    /// different.
    public static let unknownRadio = ErrorCode("unknown_radio", "Unknown radio", .connectivity, .critical, .lasting)

    // The session with a collar.

    /// No collar was heard for 1 s after the opening of a line.
    public static let sessionNotEstablished = ErrorCode("session_not_established", "No session yet", .connectivity, .warning, .retryable)
    /// No collar was heard in time after the opening of a port: for 5 s at a line; at a stick with a LoRa radio for 1.25 heartbeats (60
    /// s, or the longest of a known collar) and the time of four polls with its settings.
    public static let sessionTimeout = ErrorCode("session_timeout", "No collar in time", .connectivity, .warning, .retryable)
    /// A whole frame that is bound to no log has a version, a type or a critical flag that this version does not know; at most once a
    /// minute for each port.
    public static let linkNotSupported = ErrorCode("link_not_supported", "Protocol not supported", .connectivity, .critical, .lasting)
    /// The collar's identity names another receiver; or a request is sent to such a collar.
    public static let pairedElsewhere = ErrorCode("paired_elsewhere", "Collar belongs to another receiver", .connectivity, .critical, .lasting, .noPermission)
    /// Nothing was heard of the collar for three heartbeats and a quarter.
    public static let collarNotReachable = ErrorCode("collar_not_reachable", "Collar not reachable", .connectivity, .warning, .retryable)
    /// Ten expected frames in a row did not come.
    public static let linkUnhealthy = ErrorCode("link_unhealthy", "Link unhealthy", .connectivity, .error, .retryable)

    // Positions.

    /// The collar's status says that tracking is off, or its GNSS receiver, and not until the next search of a schedule.
    public static let locationServicesDisabled = ErrorCode("location_services_disabled", "Positions are switched off", .collarLocation, .critical, .lasting)
    /// The collar's status says that its GNSS receiver has a fault, or its last error is 1 or 2 (PROTOCOL.md, section 13).
    public static let locationUpdateFailed = ErrorCode("location_update_failed", "GNSS receiver faulty", .collarLocation, .error, .retryable)
    /// A frame of the collar has a valid CRC, and the fix in it is impossible; at most once a minute.
    public static let locationDecodingFailed = ErrorCode("location_decoding_failed", "Fix cannot be decoded", .collarLocation, .error, .retryable)
    /// A frame comes from a collar that has been heard for 60 s, or for the time of its schedule as in `stale_location_data`, and has sent
    /// no fix in this run.
    public static let noLocationData = ErrorCode("no_location_data", "No position yet", .collarLocation, .info, .retryable)
    /// A frame comes from a collar whose newest fix came three expected intervals ago, at least 60 s. The expected interval is that of
    /// the newest two fixes. If the settings of the collar give a schedule, the time is the one in which three searches in a row
    /// can fail, and a heartbeat: after them the collar says that it hears no satellites. A search that the collar has planned for later is
    /// awaited. While the collar says that, and if it has a schedule whose settings are not known, the time is a day, a search and a
    /// heartbeat. Not while a backlog comes in: an older fix came within 60 s, or within 1,000 s while others are missing.
    public static let staleLocationData = ErrorCode("stale_location_data", "Position is old", .collarLocation, .info, .retryable)
    /// The newest fix has a horizontal accuracy above 50 m, and the one before it had not; at most once a minute.
    public static let poorGPSAccuracy = ErrorCode("poor_gps_accuracy", "Position is inaccurate", .collarLocation, .info, .lasting)

    /// A status names another last error than the one before (PROTOCOL.md, section 13), except 1 and 2; at most once a
    /// minute. Or the collar has restarted after a fault or a low voltage: each time.
    public static let collarFault = ErrorCode("collar_fault", "Collar reports an error", .collarLocation, .error, .retryable)
    /// The newest fix, or a status, has a charge of 20 % or less: once, also over restarts of `collar-link`, until the charge was above
    /// 25 %.
    public static let batteryLow = ErrorCode("battery_low", "Battery low", .power, .warning, .lasting)
    /// The same at 10 %; again after the charge was above 15 %.
    public static let batteryCritical = ErrorCode("battery_critical", "Battery almost empty", .power, .error, .lasting)

    // Storage.

    /// The journal of a collar cannot store, or has the size of `--max-size`: nothing more is acknowledged.
    public static let storageFailing = ErrorCode("storage_failing", "Storage failing", .collarLocation, .critical, .retryable, .inputOutput)
    /// The journal of a collar, or the state directory, cannot be opened or made.
    public static let journalUnavailable = ErrorCode("journal_unavailable", "Journal cannot be opened", .collarLocation, .critical, .retryable, .cannotCreate)
    /// Fixes that wait for the consumer cannot be read back.
    public static let journalUnreadable = ErrorCode("journal_unreadable", "Journal cannot be read", .collarLocation, .error, .retryable)
    /// A record of the journal is damaged. What was in it is asked for again.
    public static let journalDamaged = ErrorCode("journal_damaged", "Journal damaged", .collarLocation, .error, .lasting)
    /// The journal was written on another machine or disk: the state directory was copied.
    public static let receiverCopied = ErrorCode("receiver_copied", "Another receiver than before", .collarLocation, .error, .lasting)
    /// `--keep-at-most` removes fixes that a named reader, or the reader of the lines, has not taken.
    public static let removedUnread = ErrorCode("removed_unread", "Old fixes were removed unread", .collarLocation, .warning, .lasting)
    /// `--keep` cannot remove a file.
    public static let oldFixesKept = ErrorCode("old_fixes_kept", "Old fixes cannot be removed", .collarLocation, .warning, .retryable)
    /// The file of requests to a collar is damaged, or belongs to another receiver.
    public static let requestsDamaged = ErrorCode("requests_damaged", "Requests damaged", .connectivity, .error, .lasting)
    /// The file of requests to a collar cannot be read or written.
    public static let requestsFailing = ErrorCode("requests_failing", "Requests cannot be stored", .connectivity, .error, .retryable)

    // Collars that misbehave.

    /// A fix comes again with another content.
    public static let fixChanged = ErrorCode("fix_changed", "Collar misbehaves", .collarLocation, .warning, .lasting)
    /// A sequence is higher than a collar reaches in half a year.
    public static let sequenceJumped = ErrorCode("sequence_jumped", "Collar misbehaves", .collarLocation, .warning, .lasting)
    /// A log has more gaps, or a collar more logs, than are tracked.
    public static let tooManyGaps = ErrorCode("too_many_gaps", "Collar misbehaves", .performance, .warning, .lasting)
    /// A collar names more logs than are kept in memory.
    public static let tooManyLogs = ErrorCode("too_many_logs", "Collar misbehaves", .performance, .warning, .lasting)
    /// A collar polls more often than it is answered, and sends nothing new.
    public static let tooManyPolls = ErrorCode("too_many_polls", "Collar misbehaves", .connectivity, .warning, .lasting)
    /// A collar reports more losses than are reported one by one.
    public static let tooManyLosses = ErrorCode("too_many_losses", "Collar misbehaves", .collarLocation, .warning, .lasting)
    /// A new collar is heard, and the limit of journals is reached.
    public static let tooManyCollars = ErrorCode("too_many_collars", "Collar not accepted", .performance, .warning, .lasting)
    /// New collars come faster than they are accepted.
    public static let tooManyNewCollars = ErrorCode("too_many_new_collars", "Collar not accepted", .performance, .warning, .retryable)
    /// Unknown collars poll more often than identity requests are sent.
    public static let tooManyUnknownPolls = ErrorCode("too_many_unknown_polls", "Unknown collars poll too often", .connectivity, .warning, .lasting)

    // Keys.

    /// Four sealed frames in a row and more, for 3 s, come in from an address, and there is no key in the state directory; at most once
    /// a minute for each port.
    public static let keyMissing = ErrorCode("key_missing", "No key", .connectivity, .warning, .lasting)
    /// Four sealed frames in a row and more, for 3 s, from an address do not open with any key; at most once a minute for each port.
    /// They come from a collar of somebody else, or from a collar whose identity has not come since its boot; or, in a capture that
    /// began late, they refer to fixes from before it.
    public static let keyRejected = ErrorCode("key_rejected", "Key does not fit", .connectivity, .warning, .lasting)
    /// The journal of a collar knows of sealed frames, and there is no key, although `key remove` has not removed it: at the start,
    /// when the key file vanishes, and at most once a minute for each collar when a frame in clear names it. Such frames are dropped;
    /// other collars are received.
    public static let keyLost = ErrorCode("key_lost", "Key is gone", .connectivity, .critical, .lasting)
    /// An identity opens, and it does not begin a boot: its boot count is lower than the newest one, equals it with another log id, or
    /// is not above every retired one (PROTOCOL.md, section 22). It is dropped, until `key accept-restart` allows it once, for the log
    /// that the message names, if nothing of it is stored; at most once a minute for each collar.
    public static let collarRestarted = ErrorCode("collar_restarted", "Collar counts too few boots", .connectivity, .critical, .lasting)
    /// A frame in clear with a valid CRC names a collar with a key, or is bound to one of its logs: it is dropped. Or eight sealed
    /// frames in a row and more were received before, and nothing new came. At most once a minute for each collar.
    public static let forgeryAttempted = ErrorCode("forgery_attempted", "Somebody may pass for the collar", .connectivity, .warning, .lasting)
    /// A key file does not hold a key, or has capitals in its name; or, while `collar-link` runs, the key files cannot be read or
    /// written: the keys that were read before stay in use. At the start, a file that cannot be read has the code of that failure.
    public static let keyUnusable = ErrorCode("key_unusable", "Keys cannot be used", .connectivity, .critical, .lasting, .configuration)

    // Requests that are rejected.

    /// A request at the control socket is not understood.
    public static let badRequest = ErrorCode("bad_request", "Request not understood", .connectivity, .error, .lasting, .software)
    /// The user of a program at the control socket is neither the one who runs `collar-link` nor root.
    public static let notPermitted = ErrorCode("not_permitted", "Requests not permitted", .connectivity, .error, .lasting, .noPermission)
    /// A request names a collar that was never heard here.
    public static let unknownCollar = ErrorCode("unknown_collar", "Collar not known", .connectivity, .error, .retryable, .noInput)
    /// A request names no collar, and none was ever heard here.
    public static let noCollar = ErrorCode("no_collar", "Collar not known", .connectivity, .error, .retryable, .noInput)
    /// A request names no collar, and there are several.
    public static let whichCollar = ErrorCode("which_collar", "Several collars", .connectivity, .error, .lasting, .usage)
    /// A request other than `pair` is for a collar that this receiver has released with `unpair`.
    public static let notPaired = ErrorCode("not_paired", "Collar belongs to nobody", .connectivity, .error, .lasting, .noPermission)
    /// A request of mode `now` comes, and no radio is open.
    public static let noRadio = ErrorCode("no_radio", "No radio", .connectivity, .error, .retryable, .noDevice)
    /// A request of mode `now` comes, and the collar is not in contact.
    public static let noContact = ErrorCode("no_contact", "No contact", .connectivity, .error, .retryable, .noDevice)
    /// Too many requests are queued for the collar.
    public static let queueFull = ErrorCode("queue_full", "Too many requests", .connectivity, .error, .retryable, .portBusy)
    /// The collar's settings have the highest version there is.
    public static let noVersion = ErrorCode("no_version", "No settings version left", .connectivity, .error, .lasting, .configuration)
    /// `await` names a request that is not known, or ended long ago.
    public static let unknownRequest = ErrorCode("unknown_request", "Request not known", .connectivity, .error, .lasting, .portBusy)
    /// Sixteen programs wait for results already.
    public static let tooManyClients = ErrorCode("too_many_clients", "Too many programs", .performance, .error, .retryable, .portBusy)
    /// A program waits for sixteen results already.
    public static let tooManyRequests = ErrorCode("too_many_requests", "Too many requests", .performance, .error, .retryable, .portBusy)

    // The program itself.

    /// The file of `--write` cannot be made, is not a capture, or is written by another `collar-link`; or it cannot be written any
    /// more: nothing more is recorded then, and receiving goes on.
    public static let captureFailing = ErrorCode("capture_failing", "Capture cannot be written", .connectivity, .error, .lasting, .cannotCreate)
    /// A file with the names of animals cannot be read, or a line of it is wrong: the names it had before stay in use. It is read again
    /// when it is changed.
    public static let animalsUnusable = ErrorCode("animals_unusable", "Names cannot be read", .collarLocation, .warning, .lasting, .configuration)
    /// A file of places, or of the area of one, cannot be read or is wrong: the places it had before stay in use. A command that writes
    /// positions does not start with it, because a private place may be in it.
    public static let placesUnusable = ErrorCode("places_unusable", "Places cannot be read", .collarLocation, .warning, .lasting, .configuration)
    /// No control socket can be made: `collar-link send` cannot reach this `collar-link`.
    public static let controlFailing = ErrorCode("control_failing", "No control socket", .connectivity, .warning, .lasting)
    /// The run before, with the same state directory, ended by a crash or was killed (SIGKILL, out of memory), and not by a power cut
    /// or a restart of the machine. It is said once, at the next start.
    public static let runCrashed = ErrorCode("run_crashed", "The last run crashed", .crash, .error, .lasting)
    /// A performance target is missed, which was met before or is judged for the first time; at most once an hour for each: 95 % of the
    /// last 100 newest fixes within 0.5 s of their time (more than 60 s does not count: the collar was out of reach, or a clock is
    /// wrong), 95 % of the last 100 answers within 0.1 s, 50 MB of memory, and, from 10 minutes after the start on, 10 % of a
    /// processor. Looked at once a minute while frames come in, at SIGUSR1 and at the end.
    public static let targetMissed = ErrorCode("target_missed", "Performance target missed", .performance, .warning, .retryable)

    // Errors that end a command.

    /// udev cannot be asked for devices.
    public static let discoveryFailed = ErrorCode("discovery_failed", "Devices cannot be discovered", .connectivity, .error, .retryable, .inputOutput)
    /// Another process has the state directory open.
    public static let stateInUse = ErrorCode("state_in_use", "State directory in use", .collarLocation, .critical, .retryable, .portBusy)
    /// The state directory belongs to another user, has a later format, holds another collar's files, or has moved.
    public static let stateUnusable = ErrorCode("state_unusable", "State directory cannot be used", .collarLocation, .critical, .lasting, .configuration)
    /// `receiver show` or `export` finds no receiver in the state directory.
    public static let noReceiver = ErrorCode("no_receiver", "No receiver", .collarLocation, .critical, .lasting, .noInput)
    /// `--since` names a fix that no journal has.
    public static let unknownFix = ErrorCode("unknown_fix", "Fix not found", .collarLocation, .critical, .lasting, .noInput)
    /// The file of a named reader does not hold its position.
    public static let readerUnusable = ErrorCode("reader_unusable", "A reader's position is damaged", .collarLocation, .critical, .lasting, .corruptInput)
    /// The command of `deliver` cannot be started, or has failed.
    public static let commandFailed = ErrorCode("command_failed", "The command failed", .connectivity, .error, .retryable, .noDevice)
    /// stdout cannot be written, and its reader is still there.
    public static let outputFailed = ErrorCode("output_failed", "Output cannot be written", .connectivity, .critical, .retryable, .inputOutput)
    /// A file is read as a capture and is none, or a block of it is damaged.
    public static let captureDamaged = ErrorCode("capture_damaged", "Capture is damaged", .connectivity, .error, .lasting, .corruptInput)
    /// The file of `--read` does not exist or may not be read.
    public static let noCapture = ErrorCode("no_capture", "No capture", .connectivity, .error, .lasting, .noInput)
    /// A system call fails that normally does not.
    public static let unknown = ErrorCode("unknown", "Unexpected error", .connectivity, .error, .retryable, .software)

    /// Every code, in the order of the table.
    public static let allCases: [ErrorCode] = [
        .noDevice, .deviceInUse, .permissionDenied, .notASerialPort, .portFailed, .messageSendFailed, .regionMissing,
        .radioSettingRefused, .radioRestarted, .radioNotAnswering, .radioNotSending, .radioBusy, .foreignPackets, .radioFault,
        .airtimeShort, .dutyCycleReached, .dwellTimeExceeded, .radioUnreachable, .unknownRadio, .sessionNotEstablished, .sessionTimeout,
        .linkNotSupported, .pairedElsewhere, .collarNotReachable, .linkUnhealthy, .locationServicesDisabled, .locationUpdateFailed,
        .locationDecodingFailed, .noLocationData, .staleLocationData, .poorGPSAccuracy, .collarFault, .batteryLow, .batteryCritical,
        .storageFailing, .journalUnavailable, .journalUnreadable, .journalDamaged, .receiverCopied, .removedUnread, .oldFixesKept,
        .requestsDamaged, .requestsFailing, .fixChanged, .sequenceJumped, .tooManyGaps, .tooManyLogs, .tooManyPolls, .tooManyLosses,
        .tooManyCollars, .tooManyNewCollars, .tooManyUnknownPolls, .keyMissing, .keyRejected, .keyLost, .collarRestarted,
        .forgeryAttempted, .keyUnusable, .badRequest, .notPermitted, .unknownCollar, .noCollar, .whichCollar, .notPaired, .noRadio,
        .noContact, .queueFull, .noVersion, .unknownRequest, .tooManyClients, .tooManyRequests, .captureFailing, .animalsUnusable,
        .placesUnusable,
        .controlFailing, .runCrashed, .targetMissed, .discoveryFailed, .stateInUse, .stateUnusable, .noReceiver, .unknownFix,
        .readerUnusable, .commandFailed, .outputFailed, .captureDamaged, .noCapture, .unknown,
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
