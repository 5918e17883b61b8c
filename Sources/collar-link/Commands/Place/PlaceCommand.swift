import CollarConfiguration
import CollarErrors
import CollarFormats
import CollarJournal
import CollarTracking
import LinuxSystem

enum PlaceCommand: Command {
    private static let radiusMeters = 50.0

    static let spec = CommandSpec(
        name: "place",
        title: "name places, and hide positions in private ones",
        synopsis: """
            collar-link place [-F text|json]
            collar-link place NAME here|LAT,LON [--radius METRES] [--private]
            collar-link place NAME --remove
            """,
        summary: """
            Names places. A line of a fix then contains the place that the fix is in. In a private place, every command shows the centre of
            the place instead of the position, and its radius as the accuracy; what is stored stays exact.

            forms:
              place                 list the places
              place NAME here       NAME is a circle around the newest stored fix
              place NAME LAT,LON    NAME is a circle around this position
              place NAME --remove   forget the place
            """,
        options: [
            OptionSpec("--radius", value: "METRES", is: "radius of the circle, 1 to 6000000 (default 50)"),
            OptionSpec("--private", is: "hide positions in it; it stays private until it is removed or its file is edited"),
            OptionSpec("--remove", is: "remove the place"),
            OptionSpec("--collar", value: "ID|NAME", is: "with `here`: the newest fix of this collar or animal (default: of all)"),
            OptionSpec("-F", "--format", value: "text|json", is: "format of the list (default text)"),
            .readStateDirectory,
        ],
        maximumOperandCount: 2,
        notes: """
            Distances count from the place `home` with `--owner home`: see `collar-link history --help`.

            places file:
            The places are in ~/.config/collar-link/places ($XDG_CONFIG_HOME/collar-link/places). You can edit this file. `place` keeps its
            comments. An area is a file of GeoJSON with polygons, at most 1 MiB, beside the places file or with a whole path. What is in any
            polygon is in the place. Where places overlap, a private one counts, otherwise the first in the file. For example:
              [place home]
              at = 50.1703 -5.1140      # latitude and longitude in degrees
              radius = 60               # metres
              private = yes

              [place meadow]
              area = meadow.geojson

              [alerts]
              farther = 500             # metres from the owner
              silent = 2h               # without reception, or off
              quiet = 22:00-07:00       # local time

            `--events alert` of `follow`, `deliver` and `history` says when an animal leaves or enters a place, is farther from its owner,
            or is not heard. LINES.md describes all alerts.

            /etc/collar-link/places has the same format. If both files have a place of one name, yours counts.

            A running `run`, `follow` or `deliver` looks for a changed file when it has something to write, at most once a second. If a line
            is wrong, it reports the line and keeps the places that it had. A command that writes positions does not start with a wrong file.

            examples:
              collar-link place home here --radius 60 --private
              collar-link place vet 50.1512,-5.0705
              collar-link follow --owner home

            exit codes:
              0   done
              64  wrong usage, or no such place
              66  no fix is stored
              73  the file cannot be written
              74  I/O error
              77  no permission
              78  a line of a file is wrong
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let words = arguments.operands
        guard let name = words.first else {
            for option in ["--radius", "--private", "--remove"] where arguments.has(option) {
                throw CommandFailure(.usage, "`\(option)` needs a place.", remedy: "Write its name: `collar-link place NAME \(option)`.")
            }
            return try list(isJSON: try arguments.choice("--format", of: ["text": false, "json": true]) ?? false)
        }
        guard PlaceFile.isName(name) else {
            throw CommandFailure(.usage, "'\(name)' is no name of a place.", remedy: "A name has 1 to \(PlaceFile.nameByteLimit) bytes, and no '#' after a space.")
        }
        guard let path = StandardPaths.userConfigurationFile(named: "places") else {
            throw CommandFailure(.configuration, "There is no directory for the places: neither XDG_CONFIG_HOME nor HOME is set.", remedy: "Set HOME.")
        }
        if arguments.has("--remove") {
            guard words.count == 1 else { throw CommandFailure(.usage, "`--remove` takes no position.", remedy: "`collar-link place NAME --remove`") }
            try change(path) { lines throws(CommandFailure) in
                guard let text = PlaceFile.text(lines, removing: name) else {
                    throw CommandFailure(.usage, "There is no place '\(name)' in \(path).", remedy: "`collar-link place` lists the places.")
                }
                return text
            }
            return .clean
        }
        guard words.count == 2 else {
            throw CommandFailure(.usage, "Where is \(name)?", remedy: "Write `collar-link place NAME here`, or a latitude and a longitude.")
        }
        let radius = try arguments.number("--radius", in: PlaceFile.radiusRange) ?? radiusMeters
        let center = try center(of: name, words[1], arguments)
        try change(path) { lines throws(CommandFailure) in
            PlaceFile.text(lines, putting: name, center: center, radiusMeters: radius, isPrivate: arguments.has("--private"))
        }
        return .clean
    }

    private static func center(of name: String, _ text: String, _ arguments: ParsedArguments) throws(CommandFailure) -> Position {
        if text != "here" {
            if let position = Position(text: text[...]) { return position }
            throw CommandFailure(
                .usage, "'\(text)' is no position.", remedy: "Write `here`, or latitude and longitude in degrees, such as `50.1703,-5.1140`.")
        }
        let journals = try StoredJournals(arguments)
        var newest: JournaledFix?
        for deviceID in journals.collars {
            let reader = try journals.reader(of: deviceID)
            guard let fix = try CommandFailure.wrapping(try reader.summary { _ in }).newest,
                journals.selection.contains(deviceID, at: fix.fix.unixMilliseconds)
            else { continue }
            if newest.map({ $0.fix.unixMilliseconds < fix.fix.unixMilliseconds }) ?? true { newest = fix }
        }
        guard let newest else {
            throw CommandFailure(.noInput, "No fix is stored in \(journals.stateDirectory).", remedy: "Write latitude and longitude: `50.1703,-5.1140`.")
        }
        let position = Position(newest.fix)
        if let place = try AnimalNames().annotations().places.place(at: position), place.isPrivate, place.name != name {
            throw CommandFailure(
                .usage, "The newest fix is in the private place '\(place.name)', which hides its position.",
                remedy: "Write latitude and longitude: `50.1703,-5.1140`.")
        }
        return position
    }

    /// Changes the lines of the places file, which must be right before the change.
    private static func change(_ path: String, _ body: (_ lines: [String]) throws(CommandFailure) -> [String]) throws(CommandFailure) {
        try EditedFileChange(path: path).run { () throws(CommandFailure) in
            do throws(EditedFileFault) { _ = try PlaceFile.contents(of: path) } catch { throw CommandFailure(error) }
            let lines = String(decoding: SystemFiles.content(of: path) ?? [], as: UTF8.self)
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            return Array(try body(lines).joined(separator: "\n").utf8)
        }
    }

    private static func list(isJSON: Bool) throws(CommandFailure) -> ExitCode {
        let places = try AnimalNames().annotations().places.places
        if isJSON {
            try StandardOutput.write(places.flatMap(\.line))
        } else if !places.isEmpty {
            try StandardOutput.write(Array(TextTable([["NAME", "CENTRE", "RADIUS", "PRIVATE"]] + places.map(\.cells)).text.utf8))
        }
        return .clean
    }
}

extension Place {
    /// Centre and radius of an area are those of a circle around it.
    fileprivate var cells: [String] {
        let (center, radiusMeters) = circle
        return [
            name, "\(center.latitudeDegrees.rounded(to: 5)),\(center.longitudeDegrees.rounded(to: 5))", "\(Int(radiusMeters.rounded())) m",
            isPrivate ? "yes" : "no",
        ]
    }

    fileprivate var line: [UInt8] {
        let (center, radiusMeters) = circle
        var object = JSONLine(type: "place")
        object.add("name", name)
        object.add("latitude", number: "\(center.latitudeDegrees.rounded(to: 7))")
        object.add("longitude", number: "\(center.longitudeDegrees.rounded(to: 7))")
        object.add("radius_m", Int64(radiusMeters.rounded()))
        object.add("is_area", { if case .area = shape { true } else { false } }())
        object.add("private", isPrivate)
        return object.line
    }
}

extension Double {
    fileprivate func rounded(to digits: Int) -> Double {
        let scale = digits == 5 ? 1e5 : 1e7
        return (self * scale).rounded() / scale
    }
}
