import CollarConfiguration
import CollarControl
import CollarDoctor
import CollarFormats
import CollarJournal
import CollarReceiver
import CollarSimulator
import CollarTracking
import CollarWire
import CollarWorld

/// Files that people edit. The first part is the kind of file.
struct ConfigurationBorder: Border {
    let name = "configuration"

    let seeds: [Input] = [
        ("config", "region = EU868\nfrequency = 868.1\nbandwidth = 125\nspreading-factor = 7\ncoding-rate = 4/5\ntx-power = 14\n"
            + "[stick serial=0001]\nfrequency = 868100000\ntx-power = -5\n[stick port=tcp://host:4001]\nbandwidth = 7.8\n"),
        ("animals", "[animal Athena]\nspecies = Felis catus\nwears = 910a2b3c4d5e6f70 from 2026-05-01 until 2026-09-30T12:00:00Z\n"
            + "wears = 910a2b3c4d5e6f71 from 2026-10-01T00:00:00.123+05:30\n"),
        ("places", "[place home]\nat = 50.1703 -179.9\nradius = 60.5\nprivate = yes\n[place b]\nat = -90 0\nradius = 6000000\n"),
        ("area", "{\"type\":\"Polygon\",\"coordinates\":[[[179,50],[-179,50],[-179,51.5],[179,50]],[[5,6],[7,6],[7,7],[5,6]]]}"),
    ].map { [Array($0.utf8), Array($1.utf8)] }

    func run(_ input: Input) {
        let bytes = Array(input.dropFirst().joined())
        switch input.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "config": do throws(ConfigurationError) { _ = try ConfigurationFile(bytes, path: "config") } catch {}
        case "places":
            do throws(PlaceFileError) {
                let file = try PlaceFile(bytes, folder: "/x") { path throws(PlaceFileError.Problem) in try Area(geoJSON: bytes, path: path) }
                locate(in: file.places)
            } catch {}
        case "area":
            do throws(PlaceFileError.Problem) {
                locate(in: [Place(name: "a", shape: .area(try Area(geoJSON: bytes, path: "/x/a")), isPrivate: true)])
            } catch {}
        default:
            do throws(AnimalRegisterError) {
                let register = try AnimalRegister(bytes)
                let table = DeploymentTable(register.deployments)
                for now in Sample.clocks { _ = table.wearer(of: 0x910A_2B3C_4D5E_6F70, at: now) }
                _ = register.content
            } catch {}
        }
    }

    /// Writes fixes at the ends of the Earth, with distances from the opposite end.
    private func locate(in places: [Place]) {
        for (latitude, longitude) in [(9_000_000, 18_000_000), (-9_000_000, -18_000_000), (0, 0), (5_017_030, -511_400)] as [(Int32, Int32)] {
            var options = FormatOptions()
            options.annotations.places = PlaceTable(places)
            options.owner = Position(latitudeDegrees: -Double(latitude) / 1e5, longitudeDegrees: Double(longitude) / 1e5).map { .at($0) }
            var formatter = EntryFormatter(options)
            var bytes: [UInt8] = []
            let fix = Fix(sequence: 0, unixMilliseconds: 0, latitudeSteps: latitude, longitudeSteps: longitude)
            formatter.append(ReceivedFix(deviceID: Sample.deviceID, logID: 1, receivedUnixMilliseconds: nil, fix: fix), to: &bytes)
        }
    }
}

/// Requests to the control socket, and its answers.
struct ControlBorder: Border {
    let name = "control"

    let seeds: [Input] = [
        #"{"type":"request","do":"sound","ms":5000,"collar":"910a2dec89025cc1","mode":"now","timeout_ms":30000}"#,
        #"{"type":"request","do":"set_settings","settings":{"spreading_factor":7,"turnaround_ms":500}}"#,
        #"{"type":"request","do":"message","code":5,"reply_to":12,"outcome":"ok","hex":"00ff"}"#,
        #"{"type":"request","do":"pair","to":"a1b2c3d4"}"#, #"{"type":"request","do":"await","request":7}"#,
        #"{"type":"request","do":"find","seconds":600}"#,
        #"{"type":"result","unix_ms":1790000000000,"collar":"910a2dec89025cc1","request":7,"do":"get_settings","outcome":"ok","#
            + #""settings_version":1790000000000,"settings_origin":"2c3d4","settings":{"spreading_factor":7}}"#,
        #"{"type":"figures","unix_ms":1790000000000,"uptime_ms":5000,"fixes_stored":7,"output_lag_ms":3,"errors":{"stranger":2},"#
            + #""collars":[{"collar":"910a2dec89025cc1","missing":7,"silent_ms":5000,"airtime_ms":9,"reachable":1}],"#
            + #""radios":[{"port":"/dev/ttyUSB0","state":"open","dialect":"rnode"}]}"#,
        #"{"type":"status","unix_ms":1790000000000,"collar":"910a2dec89025cc1","tracking":true,"tracking_since_unix_ms":1780000000000}"#,
        #"{"type":"power","unix_ms":1790000000000,"collar":"910a2dec89025cc1","mode":"resting","uptime_s":86400,"next_search_s":170,"#
            + #""failures_in_row":3,"gnss_s":1037,"listening_s":86.400}"#,
    ].map { [Array($0.utf8)] }

    private let disk = SimulatedDisk(seed: 1)

    init() { JournalBorder.fill(disk) }

    func run(_ input: Input) {
        let line = Array(input.joined())
        do throws(ControlRequest.Fault) {
            _ = try ControlRequest(line: line).line
        } catch {}
        _ = ResultLine(bytes: line)?.bytes
        let figures = ReceiverFigures(line: line)
        let told = ToldLines(status: StatusLine(line), power: PowerLine(line))
        guard figures != nil || told.status != nil || told.power != nil else { return }
        for now in Sample.clocks {
            var overview = Overview(unixMilliseconds: now, version: "0", stateDirectory: "/s", activity: .running, figures: figures)
            do throws(JournalError) {
                let reader = try JournalReader(stateDirectory: "/s", deviceID: Sample.deviceID, fileSystem: disk)
                try overview.add(reader, figures: figures, told: told, annotations: Annotations())
            } catch {}
            _ = overview.line
            _ = overview.text(width: 80, rows: 24, zone: nil)
            _ = MetricsReport(unixMilliseconds: now, animals: DeploymentTable(), figures: figures).bytes
        }
    }
}

/// Lines of tracks.
struct TrackBorder: Border {
    let name = "tracks"

    let seeds: [Input] = [
        [
            #"{"id":"910a2dec-8902-5cc1-8000-000700000000","ts_unix_ms":1699401234000,"source":"collar","coordinate":{"latitude":37.7749,"longitude":-122.4194},"#
                + #""alt_m":10.5,"h_accuracy_m":5,"v_accuracy_m":10,"speed_mps":0.5,"course_deg":180,"heading_deg":90,"battery_pct":85.3,"seq":42}"#,
            #"{"ts_unix_ms":1699401235000.5,"lat":37.7749e0,"lon":-122.4194,"seq":43}"#,
        ].map { Array($0.utf8) }
    ]

    func run(_ input: Input) {
        var fixes: [Fix] = []
        for line in input {
            do throws(TrackLineError) {
                let values = try TrackLine.values(of: line, lineNumber: 1, defaultSequence: 0)
                do throws(QuantizationError) { fixes.append(try Fix(quantizing: values)) } catch { _ = error.description }
            } catch { _ = error.description }
        }
        guard !fixes.isEmpty else { return }
        var bytes: [UInt8] = []
        for format in OutputFormat.allCases {
            var formatter = EntryFormatter(FormatOptions(format))
            formatter.begin(into: &bytes)
            for fix in fixes {
                formatter.append(ReceivedFix(deviceID: Sample.deviceID, logID: 7, receivedUnixMilliseconds: Sample.now, fix: fix), to: &bytes)
            }
            formatter.end(into: &bytes)
        }
        for pace in [SimulatedTrack.Pace.speed(0.001), .speed(1e6), .interval(microseconds: 1_000_000_000_000_000)] {
            let track = SimulatedTrack(fixes: fixes, pace: pace)
            _ = track.firstIntervalMicroseconds
            _ = track.due(at: fixes.count - 1, startingWith: 0, at: .init(microseconds: 0))
        }
    }
}
