import CollarARQ
import CollarConfiguration
import CollarControl
import CollarFormats
import CollarJournal
import CollarReceiver
import CollarWire
import CollarWorld

extension SimulatedDisk {
    /// Puts a file there, and the directory above it.
    func put(_ bytes: [UInt8], at path: String) {
        do throws(FileFailure) {
            var place = ""
            for name in path.split(separator: "/").dropLast() {
                place += "/\(name)"
                _ = try makeDirectory(at: place)
            }
            let file = try open(path, .creatingIfMissing)
            defer { close(file) }
            try truncate(file, to: 0)
            var done = 0
            while done < bytes.count { done += try write(bytes, from: done, to: file, at: done) }
        } catch { fatalError("the disk fails: \(error)") }
    }
}

/// A collar and a time that all borders use.
enum Sample {
    static let deviceID: DeviceID = 0x910A_2DEC_8902_5CC1
    static let receiverID: UInt32 = 0xA1B2_C3D4
    static let now: Int64 = 1_790_000_000_000
    /// The latest and the earliest time that a clock may show.
    static let clocks = [now, ClosedRange.unixMilliseconds.upperBound, ClosedRange.unixMilliseconds.lowerBound]

    static func fix(_ sequence: UInt32) -> Fix {
        Fix(
            sequence: sequence, unixMilliseconds: now + 1000 * Int64(sequence), positionStep: .e5, latitudeSteps: 4_737_690,
            longitudeSteps: 854_170, altitudeSteps: 408, horizontalAccuracy: AccuracyCode(nearestToMillimeters: 2900),
            verticalAccuracy: AccuracyCode(nearestToMillimeters: 4800), speedDecimetersPerSecond: 14,
            course: AngleCode(nearestToCentidegrees: 9000))
    }
}

/// Small files of the state directory. The first part is the name of the file, the second its content.
struct StateBorder: Border {
    let name = "state"

    let seeds: [Input] = [
        ("airtime", "1790000000000\n"), ("sticks", "rnode usb 10c4 ea60 0001\nserial socket pci-0000:00:14.0-usb-0:2:1.0\n"),
        ("receiver", "000102030405060708090a0b0c0d0e0f\nmoved 0a0b0c0d\n"), ("receiver", "retired a1b2c3d4\n"),
        ("requests", StateBorder.requests),
        ("keys", "key 000102030405060708090a0b0c0d0e0f\naccept-restart 7\n"),
        ("transfer", "collar-link receiver 1\nid a1b2c3d4\nlog 910a2dec89025cc1 7 0-10 20-30\nend\n"),
        ("events", #"{"type":"status","unix_ms":1790000000000,"collar":"910a2dec89025cc1","tracking":true,"tracking_since_unix_ms":1780000000000}"# + "\n"),
    ].map { [Array($0.utf8), Array($1.utf8)] }

    private static var requests: String {
        var requests = OutgoingRequests(deviceID: Sample.deviceID, receiverID: Sample.receiverID, lastRequestID: 9)
        let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: Sample.now)
        var list = SettingList()
        for setting in [Setting(key: 1, value: 5), Setting(key: 2, value: 60)] { list.append(setting) }
        let settings = Settings(
            direction: .report, requestID: 0, version: SettingsVersion(rawValue: 1_790_000_000_000_000_000), entries: list)
        requests.accept(settings)
        let open: [HostRequest] = [
            .command(.sound(milliseconds: 5000)), .settingsUpdate(version: settings.version, settings.entries),
            ApplicationMessage(kind: .reply(to: 7, .ok), code: 5, unixSeconds: 1_790_000_000, data: [0, 0xFF].span).map { .message($0) },
        ].compactMap(\.self)
        for request in open { _ = requests.add(request, deadline: time.instant.advanced(byMicroseconds: 5_000_000), isLatestOnly: false) }
        requests.note(EndedRequest(requestID: 5, request: .command(.pair(receiverID: 123_456)), outcome: .result(.unsupported)))
        requests.note(EndedRequest(requestID: 6, request: .settingsRequest, outcome: .reported(version: settings.version)))
        do throws(JournalError) { return String(decoding: try requests.text(at: time), as: UTF8.self) } catch { return "" }
    }

    func run(_ input: Input) {
        guard let name = input.first else { return }
        let bytes = Array(input.dropFirst().joined())
        let text = String(decoding: bytes, as: UTF8.self)
        let disk = SimulatedDisk(seed: 1)
        switch String(decoding: name, as: UTF8.self) {
        case "airtime":
            disk.put(bytes, at: "/s/airtime")
            for now in Sample.clocks {
                var memory = AirtimeMemory(stateDirectory: "/s", fileSystem: disk)
                _ = memory.isRested(at: now)
                memory.noteTransmission(at: now)
            }
        case "sticks":
            disk.put(bytes, at: "/s/sticks")
            var memory = StickMemory(stateDirectory: "/s", fileSystem: disk)
            memory.remember(.rui3, of: "x")
        case "receiver": _ = ReceiverFile.parse(text)
        case "requests":
            // The CRC of the lines is computed again: a number in them is what the run is about.
            var crc = CRC24()
            crc.update(bytes.span, from: 0, to: bytes.count)
            for now in Sample.clocks {
                let time = HostTime(instant: Instant(microseconds: 0), unixMilliseconds: now)
                let requests = OutgoingRequests(text: bytes + Array("check \(String(crc.checksum, radix: 16))\n".utf8), at: time)
                do throws(JournalError) { _ = try requests?.text(at: time) } catch {}
            }
        case "keys":
            disk.put(bytes, at: "/s/keys/910a2dec89025cc1")
            do throws(JournalError) { _ = try KeyFiles(stateDirectory: "/s", fileSystem: disk).entry(of: Sample.deviceID) } catch {}
        case "transfer":
            do throws(ReceiverTransfer.TextFault) { _ = try ReceiverTransfer(text: text).text } catch {}
        case "events":
            disk.put(bytes, at: "/s/events/00000001.jsonl")
            do throws(JournalError) {
                for position in [EventPosition.start, EventPosition(file: 1, offset: 1 << 31), EventPosition(file: 1 << 31, offset: 1)] {
                    let log = EventLogReader(stateDirectory: "/s", from: position, fileSystem: disk)
                    while try !log.next().isEmpty {}
                }
            } catch {}
        default: break
        }
    }
}

/// The files of named readers, beside a journal.
struct ReaderBorder: Border {
    let name = "readers"

    let seeds: [Input] = [
        "collar-link reader 1\nseen 1790000000000\ncollars all\njournal 910a2dec89025cc1 1 200 1790000000000 123456789abcdef\nevents 1 10\n",
        "collar-link reader 1\nseen 1790000000000\ncollars 910a2dec89025cc1,910a2dec89025cc2\n",
    ].map { [Array($0.utf8)] }

    private let disk = SimulatedDisk(seed: 1)

    init() { JournalBorder.fill(disk) }

    func run(_ input: Input) {
        disk.put(Array(input.joined()), at: "/s/readers/x.reader")
        let files = ReaderFiles(stateDirectory: "/s", fileSystem: disk)
        do throws(JournalError) {
            guard let name = ReaderName("x"), let state = try files.state(of: name) else { return }
            let lag = try state.lag(stateDirectory: "/s", fileSystem: disk)
            for now in Sample.clocks {
                let line = ReaderLine(name: name.text, collars: state.collars?.sorted(), seenUnixMilliseconds: state.seenUnixMilliseconds, lag: lag)
                _ = line.line(unixMilliseconds: now)
                _ = durationText(milliseconds: now - line.seenUnixMilliseconds)
                var report = MetricsReport(unixMilliseconds: now, animals: DeploymentTable(), figures: nil)
                report.add(name, state, lag: lag)
            }
            let reader = try JournalReader(stateDirectory: "/s", deviceID: Sample.deviceID, fileSystem: disk)
            let position = state.position(in: Sample.deviceID)
            _ = try reader.identified(try reader.position(goingOnAt: position), after: position)
            _ = try reader.hasSameRecords(before: position)
            if let events = state.events { _ = try EventLogReader(stateDirectory: "/s", from: events, fileSystem: disk).next() }
        } catch {}
    }
}
