import CollarErrors
import CollarPorts
import CollarWire
import RadioModems
import Testing

@testable import CollarFormats
@testable import CollarHost
@testable import CollarJournal
@testable import CollarReceiver

/// Code, subject and mark of each notice, for filters, limits and searches.
@Suite struct NoticeTableTests {
    private static func host(_ notice: CollarNotice) -> ReceiverNotice { .host(.collar(1, notice)) }

    private static let marks: [(ReceiverNotice, LogMark)] = [
        (host(.damagedFixes(logID: 1, first: 2, last: 3)), LogMark(.warning, .collarLocation)),
        (.fixesLeftOut(Omission(format: .gpx, fixCount: 2)), LogMark(.warning, .collarLocation)),
        (.port(path: "x", .unplugged(then: .isAnotherTerminal)), LogMark(.warning, .connectivity)),
        (.port(path: "x", .unplugged(then: .isAwaited)), LogMark(.info, .connectivity)),
        (.port(path: "x", .unplugged(then: .ends)), LogMark(.debug, .connectivity)),
        (host(.status(logID: 1, Status())), LogMark(.debug, .power)),
        (host(.power(logID: 1, PowerReport())), LogMark(.debug, .power)),
        (.figures(ReceiverStatistics(), HostLatencies()), LogMark(.debug, .performance)),
        (host(.storageRecovered), LogMark(.info, .collarLocation)),
        (host(.deliveredElsewhere(first: 1, last: 2)), LogMark(.info, .collarLocation)),
        (host(.heard(logID: 1, link: "x", isSealed: true)), LogMark(.info, .connectivity)),
        (host(.restarted(cause: nil)), LogMark(.info, .connectivity)),
        (host(.health(.late(silentMicroseconds: 1))), LogMark(.info, .connectivity)),
        (.repeated(host(.damagedFixes(logID: 1, first: 2, last: 3)), leftOutCount: 3), LogMark(.warning, .collarLocation)),
        (.repeated(.port(path: "x", .unplugged(then: .ends)), leftOutCount: 3), LogMark(.debug, .connectivity)),
    ]

    @Test(arguments: marks.indices)
    func aNoticeHasItsLevelAndCategory(index: Int) {
        let (notice, mark) = Self.marks[index]
        #expect(notice.mark == mark)
    }

    private static let codes: [(ReceiverNotice, ErrorCode?)] = [
        (.host(.link("x", .noIdentity(microseconds: 4_999_999))), .sessionNotEstablished),
        (.host(.link("x", .noIdentity(microseconds: 5_000_000))), .sessionTimeout),
        (host(.power(logID: 1, PowerReport())), nil), (host(.fault(.gnssNotSwitched)), .collarFault),
        (host(.restarted(cause: nil)), nil), (host(.restarted(cause: CollarFault.none)), nil),
        (host(.restarted(cause: .watchdogReset)), .collarFault), (host(.restarted(cause: .gnssFault)), .locationUpdateFailed),
        (host(.fault(.gnssSilent)), .locationUpdateFailed), (host(.fault(.gnssFault)), .locationUpdateFailed),
        (host(.fault(.flashFailed)), .collarFault), (host(.fault(.lowVoltageReset)), .collarFault),
        (host(.battery(.low, percent: 5)), .batteryLow), (host(.battery(.critical, percent: 20)), .batteryCritical),
        (host(.health(.condition(.degraded))), nil), (host(.health(.condition(.healthy))), nil),
        (host(.health(.condition(.unhealthy))), .linkUnhealthy), (host(.health(.late(silentMicroseconds: 1))), nil),
        (host(.health(.reachable(silentMicroseconds: nil))), nil),
        (host(.refused(link: "x", .tooManyCollars(limit: 1))), .tooManyCollars),
        (host(.refused(link: "x", .tooManyAtOnce)), .tooManyNewCollars),
        (.port(path: "x", .waiting), nil), (.port(path: "x", .unmarked), nil), (.port(path: "x", .read(by: nil)), .deviceInUse),
        (.port(path: "x", .cannotConnect(reason: "x")), .radioUnreachable), (.renewing(path: "x", deviceID: 1), nil),
        (.port(path: "x", .cannotOpen(.permissionDenied(path: "y", obstacle: .directory))), .permissionDenied),
        (.repeated(host(.keyLost), leftOutCount: 1), .keyLost),
    ]

    @Test(arguments: codes.indices)
    func aNoticeHasItsCode(index: Int) {
        let (notice, code) = Self.codes[index]
        #expect(notice.code == code)
    }

    /// The port and the collar of a notice, by which its line and its limit are found.
    @Test func aNoticeIsAboutAPortOrACollar() {
        let notices: [(ReceiverNotice, port: String?, collar: DeviceID?)] = [
            (.port(path: "a", .cannotOpen(.notFound(path: "b"))), "b", nil), (.port(path: "a", .waiting), "a", nil),
            (.cannotSend(path: "a"), "a", nil), (.modem(path: "a", .restarted(.kiss)), "a", nil),
            (.renewing(path: "a", deviceID: 1), "a", nil),
            (.host(.link("a", .keyMissing)), "a", nil), (Self.host(.heard(logID: 2, link: "a", isSealed: false)), nil, 1),
            (Self.host(.forgeryAttempted(link: "a")), "a", 1), (Self.host(.keyLost), nil, 1),
            (.traffic(path: "a", isInbound: true, bytes: []), nil, nil),
            (.repeated(Self.host(.forgeryAttempted(link: "a")), leftOutCount: 1), "a", 1),
            (.repeated(.cannotSend(path: "a"), leftOutCount: 1), "a", nil),
            (.capturing(path: "a"), nil, nil),
        ]
        for (notice, port, collar) in notices { #expect((notice.port, notice.deviceID) == (port, collar), "\(notice)") }
    }

    /// The notices after which the receiver looks for other programs that take bytes.
    @Test func silenceSuggestsThatBytesAreMissing() {
        let notices: [(HostNotice, Bool)] = [
            (.link("a", .noIdentity(microseconds: 1)), true), (.link("a", .unsupportedFrame), false), (.link("a", .keyMissing), false),
            (.collar(1, .health(.condition(.degraded))), true), (.collar(1, .health(.condition(.unhealthy))), true),
            (.collar(1, .health(.condition(.healthy))), false), (.collar(1, .health(.late(silentMicroseconds: 1))), true),
            (.collar(1, .health(.unreachable(silentMicroseconds: 1))), true),
            (.collar(1, .health(.reachable(silentMicroseconds: 1))), false),
            (.collar(1, .lost(first: 1, last: 2)), false), (.collar(1, .restarted(cause: nil)), false),
        ]
        for (notice, isSuggested) in notices { #expect(notice.suggestsMissingBytes == isSuggested, "\(notice)") }
    }

    /// The serial devices that are present follow a message that no radio is.
    @Test func theOtherDevicesFollowTheMessage() {
        let devices = [PortsBench.device(node: "/dev/ttyS0"), PortsBench.device(node: "/dev/ttyUSB1")]
        #expect(ReceiverNotice.waitingForRadio(others: devices).details == devices.map(\.text))
        #expect(ReceiverNotice.udevElsewhere.details == [])
    }
}
