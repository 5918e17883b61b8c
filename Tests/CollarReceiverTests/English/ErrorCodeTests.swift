import CollarConfiguration
import CollarErrors
import CollarHost
import CollarPorts
import CollarReaders
import CollarWire
import FoundationEssentials
import Glibc
import LinuxSystem
import RadioModems
import Testing

@testable import CollarJournal
@testable import CollarReceiver
@testable import SerialDevices

/// The error codes: a cause of each, its row in the document, and its place in the schemas.
@Suite struct ErrorCodeTests {
    private static let file = JournalError.file(FileFailure(.write, "/x/00000001.journal", errorNumber: ENOSPC))
    private static let path = "/dev/ttyUSB0"

    /// Causes of every code, except the codes that only the control socket itself gives.
    private static var causes: [(ErrorCode, UserMessage)] {
        func host(_ notice: HostNotice) -> UserMessage { ReceiverNotice.host(notice).message }
        func positions(_ problem: PositionProblem) -> UserMessage { host(.collar(1, .positions(problem))) }
        func misbehaving(_ misbehaviour: Misbehaviour) -> UserMessage { host(.collar(1, .misbehaving(misbehaviour))) }
        func refused(_ refusal: RequestRefusal) -> UserMessage { refusal.message }
        let ports: [(ErrorCode, UserMessage)] = [
            (.noDevice, SerialPortError.notFound(path: path).message),
            (.noDevice, SerialPortError.disconnected(path: path).message),
            (.noDevice, ReceiverError.noDevice(path: nil).message),
            (.deviceInUse, SerialPortError.busy(path: path, holder: nil).message),
            (.deviceInUse, ReceiverNotice.port(path: path, .read(by: ProcessHolder(processID: 12, name: "cat"))).message),
            (.permissionDenied, SerialPortError.permissionDenied(path: path, obstacle: .directory).message),
            (.notASerialPort, SerialPortError.notATerminal(path: path).message),
            (.portFailed, SerialPortError.system(path: path, operation: "open", errno: EIO).message),
            (.discoveryFailed, ReceiverError.discovery(SystemError(operation: "udev_new", errno: ENOMEM)).message),
            (.messageSendFailed, ReceiverNotice.cannotSend(path: path).message),
            (.controlFailing, ReceiverNotice.controlFailing(path: path, errorNumber: EACCES).message),
            (.animalsUnusable, ReceiverNotice.editedFile(.unreadable(FileFailure(.open, "/x/animals", errorNumber: EACCES), .animalsUnusable)).message),
            (.animalsUnusable, ReceiverNotice.editedFile(.animals(path: "/x/animals", AnimalRegisterError(.notText, line: 1))).message),
            (.placesUnusable, ReceiverNotice.editedFile(.places(path: "/x/places", PlaceFileError(.notText, line: 1))).message),
            (.captureFailing, ReceiverNotice.captureStopped(.system(path: "/x.pcapng", operation: "write", errorNumber: ENOSPC)).message),
            (.captureFailing, ReceiverError.captureFile(.otherContent(path: "/x.pcapng")).message),
            (.captureDamaged, ReceiverError.capture(path: "/x.pcapng", CaptureError(problem: .cut, offset: 9)).message),
            (.noCapture, ReceiverError.captureUnreadable(path: "/x.pcapng", errorNumber: ENOENT).message),
            (.runCrashed, ReceiverNotice.crashed(EndOfRun(processID: 4711, signal: nil)).message),
            (.runCrashed, ReceiverNotice.crashed(EndOfRun(processID: 4711, signal: SIGSEGV)).message),
            (.targetMissed, ReceiverNotice.targetMissed(.fixLatency, measured: 700_000).message),
            (.targetMissed, ReceiverNotice.targetMissed(.messageLatency, measured: 200_000).message),
            (.targetMissed, ReceiverNotice.targetMissed(.memory, measured: 60_000_000).message),
            (.targetMissed, ReceiverNotice.targetMissed(.processor, measured: 12).message),
            (.outputFailed, ReceiverError.output(errorNumber: EIO).message),
            (.unknown, ReceiverError.system(SystemError(operation: "signalfd", errno: EMFILE)).message),
        ]
        func modem(_ notice: ModemNotice) -> UserMessage { ReceiverNotice.modem(path: path, notice).message }
        let sticks: [(ErrorCode, UserMessage)] = [
            (.regionMissing, modem(.settingsMissing(.rnode))), (.regionMissing, modem(.regionMissing(.kiss))),
            (.radioSettingRefused, modem(.refused(.airtime, wanted: 300, actual: 500))),
            (.radioSettingRefused, modem(.refused(.frequency, wanted: 868_100_000, actual: nil))),
            (.radioRestarted, modem(.restarted(.kiss))), (.radioNotAnswering, modem(.notAnswering(.rui3))),
            (.radioNotSending, modem(.notSending(.kiss))), (.radioSettingRefused, modem(.firmwareTooOld(.rui3, version: "3.2.0"))),
            (.radioFault, modem(.packetRefused(.rui3, byteCount: 240, status: "AT_PARAM_ERROR"))),
            (.radioBusy, modem(.busy(.rui3))), (.radioBusy, modem(.queueFull(.rnode))),
            (.radioFault, modem(.fault(.rnode, code: 1))), (.dutyCycleReached, modem(.dutyCycleReached(microseconds: 7_000_000, isStart: false))),
            (.airtimeShort, modem(.airtimeShort(usedMicroseconds: 1, partsPerMillion: 1000, frequencyHertz: 864_000_000))),
            (.dwellTimeExceeded, modem(.dwellTimeExceeded(airtimeMicroseconds: 500_000, limitMicroseconds: 400_000))),
            (.radioUnreachable, ReceiverNotice.port(path: "tcp://a:1", .cannotConnect(reason: "refused")).message),
            (.radioUnreachable, ReceiverError.connection(path: "tcp://a:1", reason: "refused").message),
            (.unknownRadio, modem(.stranger(.nmea))), (.unknownRadio, modem(.stranger(.bootloader))),
            (.unknownRadio, modem(.stranger(.meshtastic))), (.unknownRadio, modem(.stranger(.silentKISS))),
            (.unknownRadio, modem(.stranger(.companion))), (.unknownRadio, modem(.stranger(.console))), (.unknownRadio, modem(.stranger(.echo))),
            (.unknownRadio, modem(.stranger(.otherModem))), (.unknownRadio, modem(.stranger(.silent(.kiss)))),
            (.unknownRadio, modem(.stranger(.text("login:")))), (.unknownRadio, modem(.stranger(.bytesWithoutFrames))),
        ]
        let collars: [(ErrorCode, UserMessage)] = [
            (.sessionNotEstablished, host(.link(path, .noIdentity(microseconds: 1_000_000)))),
            (.sessionTimeout, host(.link(path, .noIdentity(microseconds: 5_000_000)))),
            (.foreignPackets, host(.link(path, .foreignPackets(.headerByteMissing)))),
            (.foreignPackets, host(.link(path, .foreignPackets(.headerByteAdded)))), (.foreignPackets, host(.link(path, .foreignPackets(.unknown)))),
            (.linkNotSupported, host(.link(path, .unsupportedFrame))),
            (.pairedElsewhere, host(.collar(1, .pairedElsewhere(receiverID: 2)))),
            (.keyMissing, host(.link(path, .keyMissing))), (.keyRejected, host(.link(path, .keyRejected(deviceID: nil)))),
            (.keyRejected, host(.link(path, .keyRejected(deviceID: 1)))),
            (.forgeryAttempted, host(.collar(1, .forgeryAttempted(link: path)))),
            (.keyLost, host(.collar(1, .keyLost))), (.keyUnusable, JournalError.misnamedKey(path: path, name: "a").message),
            (.permissionDenied, JournalError.readerDenied(path: path, owner: 0).message),
            (.forgeryAttempted, host(.collar(1, .onlyRepeats))),
            (.collarRestarted, host(.collar(1, .restartedBelow(bootCount: 2, logID: 3, isStored: false)))),
            (.keyUnusable, host(.keysFailing(.unreadableKey(path: "/x/keys/1")))),
            (.collarNotReachable, host(.collar(1, .health(.unreachable(silentMicroseconds: 5))))),
            (.linkUnhealthy, host(.collar(1, .health(.condition(.unhealthy))))),
            (.locationServicesDisabled, positions(.trackingOff)), (.locationServicesDisabled, positions(.gnssOff)),
            (.locationUpdateFailed, positions(.gnssFault)), (.locationDecodingFailed, positions(.undecodable)),
            (.noLocationData, positions(.noFix(microseconds: 60_000_000))), (.staleLocationData, positions(.stale(microseconds: 60_000_000))),
            (.poorGPSAccuracy, positions(.poorAccuracy(meters: 54))),
            (.locationUpdateFailed, host(.collar(1, .fault(.gnssSilent)))),
            (.locationUpdateFailed, host(.collar(1, .fault(.gnssFault)))),
            (.collarFault, host(.collar(1, .fault(.flashFailed)))), (.collarFault, host(.collar(1, .fault(.radioFailed)))),
            (.collarFault, host(.collar(1, .fault(.lowVoltageReset)))),
            (.collarFault, host(.collar(1, .fault(.watchdogReset)))),
            (.collarFault, host(.collar(1, .fault(.firmwareReset)))),
            (.collarFault, host(.collar(1, .fault(.settingsLost)))),
            (.collarFault, host(.collar(1, .fault(.gnssNotSwitched)))),
            (.collarFault, host(.collar(1, .fault(CollarFault(rawValue: 200))))),
            (.collarFault, host(.collar(1, .restarted(cause: .watchdogReset)))),
            (.batteryLow, host(.collar(1, .battery(.low, percent: 20)))),
            (.batteryCritical, host(.collar(1, .battery(.critical, percent: 10)))),
            (.fixChanged, misbehaving(.otherContent(sequence: 1))),
            (.sequenceJumped, misbehaving(.sequenceJump(from: 1, to: 2))), (.tooManyGaps, misbehaving(.tooManyGaps)),
            (.tooManyLogs, misbehaving(.tooManyLogs)), (.tooManyPolls, misbehaving(.tooManyPolls)),
            (.tooManyLosses, misbehaving(.tooManyLosses)),
            (.tooManyCollars, host(.collar(1, .refused(link: path, .tooManyCollars(limit: 64))))),
            (.tooManyNewCollars, host(.collar(1, .refused(link: path, .tooManyAtOnce)))),
            (.tooManyUnknownPolls, host(.link(path, .unknownPollsIgnored))),
        ]
        let storage: [(ErrorCode, UserMessage)] = [
            (.storageFailing, host(.collar(1, .storageFailing(file)))),
            (.storageFailing, JournalError.stopped(after: FileFailure(.write, path, errorNumber: EIO)).message),
            (.storageFailing, JournalError.sizeLimitReached(65_536, path: path).message),
            (.storageFailing, JournalError.pendingLimitReached.message),
            (.storageFailing, JournalError.trackingLimitReached.message),
            (.storageFailing, JournalError.logLimitReached.message),
            (.storageFailing, JournalError.unencodable(.sequence(1 << 30)).message),
            (.journalUnavailable, host(.collar(1, .journalUnavailable(file)))), (.journalUnavailable, file.message),
            (.permissionDenied, JournalError.file(FileFailure(.open, path, errorNumber: EACCES)).message),
            (.journalUnreadable, host(.collar(1, .journalUnreadable(file)))),
            (.journalDamaged, host(.collar(1, .journalDamage(DamageReport(segment: 2, offset: 3, byteCount: 4))))),
            (.stateInUse, JournalError.heldBy(processID: 4711, path: path).message),
            (.stateUnusable, JournalError.laterFormat(version: 9, path: path).message),
            (.stateUnusable, JournalError.foreignSegment(path: path).message),
            (.stateUnusable, JournalError.openToStrangers(.others, path: path).message),
            (.stateUnusable, JournalError.unreadableReceiver(path: path).message),
            (.stateUnusable, JournalError.retired(receiverID: 1, path: path).message),
            (.stateUnusable, JournalError.otherReceiver(path: path).message),
            (.noReceiver, JournalError.noReceiver(path: path).message),
            (.receiverCopied, host(.collar(1, .copiedJournal(previousReceiverID: 2)))),
            (.removedUnread, host(.collar(1, .removedUnread(RemovedEntries())))),
            (.readerUnusable, JournalError.unreadableReader(path: path).message),
            (.commandFailed, ReaderError.command(name: "psql", errorNumber: ENOENT).message),
            (.oldFixesKept, host(.collar(1, .cannotRemoveOld(file)))),
            (.requestsDamaged, host(.collar(1, .requestsSetAside(path: path)))),
            (.requestsFailing, host(.collar(1, .requestsFailing(file)))),
            (.unknownFix, ReceiverError.host(.unknownFix(FixIdentifier(deviceID: 1, logID: 2, sequence: 3))).message),
        ]
        let requests: [(ErrorCode, UserMessage)] = [
            (.unknownCollar, refused(.unknownCollar(deviceID: 1, known: []))), (.noCollar, refused(.noCollar)),
            (.whichCollar, refused(.whichCollar(known: [1, 2]))), (.noRadio, refused(.noRadio(deviceID: 1))),
            (.pairedElsewhere, refused(.pairedElsewhere(deviceID: 1))), (.noContact, refused(.noContact(deviceID: 1))),
            (.queueFull, refused(.queueFull(deviceID: 1))), (.noVersion, refused(.noVersion(deviceID: 1))),
            (.notPaired, refused(.notPaired(deviceID: 1))),
            (.unknownRequest, refused(.unknownRequest(deviceID: 1, requestID: 2))),
            (.storageFailing, refused(.storage(deviceID: 1, file))),
        ]
        return ports + sticks + collars + storage + requests
    }

    /// The codes of rejections that only the control socket itself gives. End-to-end tests provoke them.
    private static let ofTheSocket: Set<ErrorCode> = [.badRequest, .notPermitted, .tooManyClients, .tooManyRequests]

    @Test func everyCodeHasACause() {
        for (code, message) in Self.causes {
            #expect(message.code == code)
            #expect(!message.reason.isEmpty && !code.title.isEmpty)
            #expect(message.remedy?.isEmpty != true)
        }
        #expect(Set(Self.causes.map(\.0)).union(Self.ofTheSocket) == Set(ErrorCode.allCases))
    }

    /// A critical error lasts until a person acts, so its message must say what to do.
    @Test func whatIsCriticalHasARemedy() {
        for (code, message) in Self.causes where code.severity == .critical { #expect(message.remedy != nil, "\(message.reason)") }
    }

    /// Messages that report no error, and further ones in whose reason a value, a cause or a suggestion stands.
    private static var notices: [UserMessage] {
        let notices: [ReceiverNotice] = [
            .port(path: path, .waiting), .waitingForRadio(others: []), .waitingForRadio(others: [], noticedBy: .kernel), .udevElsewhere,
            .port(path: path, .opened(node: nil)), .port(path: path, .opened(node: "/dev/ttyUSB1")), .port(path: path, .unmarked), .port(path: path, .unplugged(then: .isAwaited)),
            .port(path: "tcp://a:1", .unplugged(then: .isAwaited)), .port(path: path, .unplugged(then: .isAnotherTerminal)), .capturing(path: "/x.pcapng"),
            .renewing(path: path, deviceID: 1), .repeated(.port(path: path, .opened(node: nil)), leftOutCount: 2), .modem(path: path, .found(.kiss, version: "1.17")),
            .modem(path: path, .found(.rnode, version: nil)), .modem(path: path, .powerReduced(wantedDBm: 20, actualDBm: 17)),
            .modem(path: path, .powerRaised(wantedDBm: 2, actualDBm: 5)), .modem(path: path, .boardUnknown(.kiss)),
            .modem(path: path, .amplified(board: "X", chipDBm: 9, outputDBm: 20)), .modem(path: path, .answersAgain(.rui3)),
        ]
        let collars: [CollarNotice] = [
            .heard(logID: 2, link: path, isSealed: true), .heard(logID: 2, link: path, isSealed: false),
            .damagedFixes(logID: 2, first: 3, last: 4), .storageRecovered, .lost(first: 3, last: 4), .deliveredElsewhere(first: 3, last: 4),
            .restartedBelow(bootCount: 2, logID: 3, isStored: true), .restarted(cause: nil), .restarted(cause: CollarFault.none),
            .health(.reachable(silentMicroseconds: 5)), .health(.reachable(silentMicroseconds: nil)), .health(.late(silentMicroseconds: 5)),
            .health(.condition(.healthy)), .health(.condition(.degraded)), .power(logID: 2, PowerReport()),
        ]
        let journals: [JournalError] =
            [.unreadableKey(path: "/x"), .readerReplaced(path: "/x"), .openToStrangers(.owner(5), path: "/x")]
            + [ReaderName("db")].compactMap { $0 }.flatMap { [.readerInUse($0, processID: 7), .readerInUse($0, processID: nil)] }
        let followers: [FollowerNotice] = [
            .journal(.damage(deviceID: 1, DamageReport(segment: 2, offset: 3, byteCount: 4))), .journal(.unreadable(deviceID: 1, file)), .journal(.rewritten(deviceID: 1)),
            .nothingStored(path: "/x"), .cannotStorePosition(file), .cannotReadEvents(.pendingLimitReached), .notAnID("x"),
            .commandFailed(command: "psql", .exitCode(1)), .commandFailed(command: "psql", .notStarted(errorNumber: ENOENT)),
            .commandRecovered(command: "psql", attempts: 2),
        ]
        let configurations = [ConfigurationPlace.commandLine, .file(path: "/c", line: 3)].flatMap { place in
            [ConfigurationError(.wrongValue(.region, text: "EU86"), at: place).message, ConfigurationError(.notText, at: place).message]
        }
        return notices.map(\.message) + collars.map { ReceiverNotice.host(.collar(1, $0)).message } + journals.map(\.message)
            + followers.map(\.message) + configurations + [SystemError(operation: "open", errno: EIO).message]
    }

    /// Reasons and remedies are sentences, and a command or an option stands in them as it is typed, in backticks.
    @Test func messagesAreSentences() {
        for message in Self.causes.map(\.1) + Self.notices {
            // A value at the start stays as it is, such as the path of a port.
            let hasValue = message.reason.first == "/" || message.reason.hasPrefix("tcp://")
            #expect(hasValue || message.reason.first.map { $0.isUppercase || "`'\"0123456789".contains($0) } == true, "\(message.reason)")
            #expect(message.remedy?.first.map { $0.isUppercase || $0 == "`" } != false, "\(message.remedy ?? "")")
            for text in [message.reason, message.remedy ?? "."] {
                #expect([".", "?", "…"].contains(text.last) && !text.hasSuffix(".."), "\(text)")
                let outside = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 0 }
                for (_, piece) in outside {
                    #expect(!["--", "sudo ", "'collar-link", ": collar-link"].contains { piece.contains($0) }, "\(text)")
                }
            }
            if let command = message.command { #expect(message.remedy?.contains("`\(command.text)`") == true, "\(message.remedy ?? "")") }
        }
    }

    @Test func aCauseIsAPartOfASentence() {
        let message = JournalError.heldBy(processID: nil, path: "/x").message.about("It waits")
        #expect(message.reason == "It waits, because /x is in use by another process.")
        #expect(JournalError.logLimitReached.message.about("It waits").reason == "It waits, because the collar has more logs than can be tracked.")
        #expect(["A name.", "RNode answers.", "/x is gone.", "'a' is."].map(\.asClause) == ["a name.", "RNode answers.", "/x is gone.", "'a' is."])
    }

    /// Every remedy with a command is carried out by an end-to-end test, which checks that the tests exist.
    @Test func everyCommandIsCarriedOut() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../")
        let table = try String(contentsOfFile: folder.appending(path: "EndToEnd/commands/remedies.txt").path, encoding: .utf8)
        let listed = Set(table.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: ":").first.map(String.init) })
        var expected = Set(Self.causes.filter { $0.1.command != nil }.map(\.0.rawValue))
        let machines = folder.appending(path: "Machines").path
        for name in try FileManager.default.contentsOfDirectory(atPath: machines) {
            guard let text = try? String(contentsOfFile: "\(machines)/\(name)/expected", encoding: .utf8) else { continue }
            for line in text.split(separator: "\n") where line.contains(": ") && !line.hasSuffix(": -") {
                expected.insert(String(line.prefix { $0 != ":" }))
            }
        }
        #expect(listed == expected)
    }

    /// Nothing that a stranger chose can be taken for a command or control a terminal.
    @Test func namesOfProcessesAreShownAsNames() {
        for name in ["`sudo id -un 0`", "a\u{1B}[2Jb", "x'; reboot #", "", "\u{202E}evil", "tab\tquote\"", "ümläut"] {
            let holder = ProcessHolder(processID: 812, name: name)
            let message = SerialPortError.busy(path: Self.path, holder: holder).message
            #expect(message.command?.text == "kill 812")
            #expect(message.remedy == "Close \(holder.shownName), or run `kill 812`.")
            #expect(holder.shownName.hasPrefix("\"") && holder.shownName.hasSuffix("\""))
            #expect(!holder.shownName.contains { $0 == "`" || $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\t" }, "\(holder.shownName)")
        }
        #expect(ProcessHolder(processID: 812, name: "tio").shownName == "tio")
    }

    @Test func wordsOfCommandsAreQuoted() {
        let command = ShellCommand("ls", "-l", "/x y", "a'b", "`reboot`", "", "\u{1B}[2J").piped(to: ShellCommand("sort"))
        #expect(command.text == #"ls -l '/x y' 'a'\''b' '`reboot`' '' $'\x1b\x5b2J' | sort"#)
    }

    /// The list of the schema is made from the table (`GeneratedTablesTests`); these are the codes that requests are rejected with.
    @Test func theSchemaHasEveryRejection() throws {
        struct Schema: Decodable {
            struct Code: Decodable { var `enum`: [String] }
            struct Properties: Decodable { var code: Code }
            var properties: Properties
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let data = try Data(contentsOf: folder.appending(path: "../../../Protocol/schema/result.schema.json"))
        let schema = try JSONDecoder().decode(Schema.self, from: data)
        let rejections = Self.causes.suffix(11).map(\.0.rawValue) + Self.ofTheSocket.map(\.rawValue)
        #expect(Set(schema.properties.code.enum) == Set(rejections))
    }
}
