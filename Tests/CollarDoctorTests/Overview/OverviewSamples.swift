import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire

@testable import CollarDoctor

/// 2023-11-07T23:53:54.567Z, when the overviews of these tests are made.
let overviewTime: Int64 = 1_699_401_234_567

/// A receiver without radios, collars and readers.
func overview(_ activity: Overview.Activity = .running) -> Overview {
    var figures = ReceiverFigures()
    figures.values[.uptime] = 7_200_000
    return Overview(
        unixMilliseconds: overviewTime, version: "1.2.3", stateDirectory: "/state", activity: activity,
        figures: activity == .running ? figures : nil)
}

/// A receiver with something of everything.
func fullOverview() throws -> Overview {
    var overview = overview()
    overview.radios = [radio("/dev/ttyUSB0", .open, dialect: "kiss"), radio("tcp://barn.example:4001", .connecting)]
    overview.collars = [collar(name: "Athena", status: try statusLine()), collar(0xAB, newest: nil, figures: [:])]
    overview.readers = [reader("map", behind: 3), reader("archive", behind: 0)]
    overview.problems = [
        Finding(.regionMissing, "no region is set", evidence: [], command: ShellCommand("collar-link", "--region", "EU868")),
        Finding(.usb3Noise, "the radio is at a port of USB 3", evidence: [], remedy: "use another port"),
    ]
    return overview
}

func radio(_ port: String, _ state: RadioFigures.State, dialect: String? = nil) -> Overview.Radio {
    Overview.Radio(port: port, figures: RadioFigures(port: port, state: state, dialect: dialect))
}

/// A collar that was heard 5 s ago, with 40 stored fixes.
func collar(
    _ deviceID: DeviceID = 0x0123_4567_89AB_CDEF, name: String? = nil, newest: JournaledFix? = newestFix(),
    figures: [CollarFigure: Int64] = [.reachable: 1, .silence: 5000, .heard: 1, .missing: 0], missing: UInt64 = 0, lost: UInt64 = 0,
    status: StatusLine? = nil, power: PowerLine? = nil
) -> Overview.Collar {
    var summary = JournalSummary()
    summary.newest = newest
    summary.storedCount = newest == nil ? 0 : 40
    summary.missingCount = missing
    summary.lostCount = lost
    return Overview.Collar(
        deviceID: deviceID, name: name, figures: figures, summary: summary, fix: newest.map { ReceivedFix(deviceID: deviceID, $0) },
        drainMilliPercentPerHour: nil, fixLine: nil, told: ToldLines(status: status, power: power))
}

/// A fix that was made 90 s before the overview.
func newestFix(secondsAgo: Int64 = 90, battery: UInt8? = 85, signal: RadioSignal? = nil) -> JournaledFix {
    JournaledFix(
        logID: 7, receivedUnixMilliseconds: overviewTime, signal: signal,
        fix: Fix(
            sequence: 42, unixMilliseconds: overviewTime - secondsAgo * 1000, latitudeSteps: 3_777_490, longitudeSteps: -12_241_940,
            horizontalAccuracy: AccuracyCode(rawValue: 56), batteryPercent: battery))
}

/// A status, as the receiver stores it in the event log.
func statusLine(_ change: (inout Status) -> Void = { _ in }) throws -> StatusLine {
    var status = Status()
    status.isTracking = true
    status.gnssState = .fix
    change(&status)
    let line = status.line(unixMilliseconds: overviewTime, deviceID: 0x0123_4567_89AB_CDEF, logID: 7)
    guard let read = StatusLine(line.dropLast()) else { throw SampleError.noStatus }
    return read
}

/// A power report, as the receiver stores it in the event log 60 s before the overview.
func powerLine(_ change: (inout PowerReport) -> Void = { _ in }) throws -> PowerLine {
    var report = PowerReport()
    report.mode = .moving
    report.supply = .backup
    report.uptimeSeconds = 86_400
    report.secondsToSearch = 180
    report.gnssSeconds = 1037
    report.listeningMilliseconds = 86_000
    change(&report)
    let line = report.line(unixMilliseconds: overviewTime - 60_000, deviceID: 0x0123_4567_89AB_CDEF, logID: 7)
    guard let read = PowerLine(line.dropLast()) else { throw SampleError.noStatus }
    return read
}

private enum SampleError: Error { case noStatus }

/// A named reader that was active 10 s ago, and lags this many entries behind; nil if its lag is unknown.
func reader(_ name: String, behind entryCount: Int?) -> ReaderLine {
    var lag: ReaderLag?
    if let entryCount {
        lag = ReaderLag()
        lag?.entryCount = entryCount
        lag?.oldestUnixMilliseconds = entryCount > 0 ? overviewTime - 300_000 : nil
    }
    return ReaderLine(name: name, collars: nil, seenUnixMilliseconds: overviewTime - 10_000, lag: lag)
}
