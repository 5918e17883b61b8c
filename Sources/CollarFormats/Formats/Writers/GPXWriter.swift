import CollarJournal
import CollarWire

/// GPX 1.1: a track for each collar and animal, a segment for fixes whose sequences follow one another.
///
/// Tracks are not sorted, so that nothing has to be kept: where fixes of two collars alternate, so do their tracks.
struct GPXWriter: FormatWriter {
    private static let header = """
        <?xml version="1.0" encoding="UTF-8"?>
        <gpx version="1.1" creator="collar-link" xmlns="http://www.topografix.com/GPX/1/1" xmlns:collar="urn:collar-link:gpx:1">

        """

    /// The constant pieces of a point. An element with its tags may have more than 32 bytes.
    private struct Keys {
        let latitude = InlineBytes("<trkpt lat=\"")
        let longitude = InlineBytes("\" lon=\"")
        let afterLongitude = InlineBytes("\">")
        let altitude = Element("ele")
        let time = Element("time")
        let endOfTime = InlineBytes("Z</time>")
        let extensions = Element("extensions")
        let horizontalAccuracy = Element("collar:h_accuracy_m")
        let verticalAccuracy = Element("collar:v_accuracy_m")
        let speed = Element("collar:speed_mps")
        let course = Element("collar:course_deg")
        let heading = Element("collar:heading_deg")
        let battery = Element("collar:battery_pct")
        let end = InlineBytes("</trkpt>\n")
    }

    /// The tags of an element.
    private struct Element {
        let begin: InlineBytes
        let end: InlineBytes

        init(_ name: String) {
            begin = InlineBytes("<\(name)>")
            end = InlineBytes("</\(name)>")
        }
    }

    private struct LogTexts {
        let deviceID: UInt64
        let logID: UInt32
        /// The begin of the track, with the names of animal, species and collar.
        let head: [UInt8]

        init(_ log: LogOfAnimal) {
            deviceID = log.deviceID
            logID = log.logID
            var head = Array("<trk><name>".utf8)
            head.append(xmlText: log.animal?.name ?? "collar \(log.collar)")
            head += "</name>".utf8
            if let species = log.animal?.species {
                head += "<desc>".utf8
                head.append(xmlText: species)
                head += "</desc>".utf8
            }
            self.head = head + "<src>collar \(log.collar)</src>\n".utf8
        }
    }

    private let keys = Keys()
    private let numbers = NumberBytes()
    private var times = TimeTexts()
    private var scratch = LineScratch()
    private var logs: LogMemory<LogTexts>
    /// The log of the open segment, and the sequence that continues the segment; nil where no segment is open.
    private var open: (log: LogTexts, next: UInt32)?

    init(_ deployments: DeploymentTable) { logs = LogMemory(deployments) { LogTexts($0) } }

    mutating func begin(into bytes: inout [UInt8]) { bytes += GPXWriter.header.utf8 }

    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        if !logs.find(received) || open?.next != fix.sequence { beginSegment(for: fix.sequence, in: &bytes) }
        open?.next = fix.sequence &+ 1
        scratch.removeAll()
        scratch.append(keys.latitude)
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.longitude)
        // GPX has longitudes below 180°; −180° is the same meridian.
        let isAntimeridian = fix.longitudeSteps == 2 * fix.positionStep.stepsPerQuarterTurn
        scratch.append(
            degrees: isAntimeridian ? -fix.longitudeSteps : fix.longitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.afterLongitude)
        if let steps = fix.altitudeSteps {
            scratch.append(keys.altitude.begin)
            scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers)
            scratch.append(keys.altitude.end)
        }
        scratch.append(keys.time.begin)
        times.append(fix.unixMilliseconds, separator: UInt8(ascii: "T"), to: &scratch)
        scratch.append(keys.endOfTime)
        appendExtensions(fix)
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }

    @inline(__always)
    private mutating func appendExtensions(_ fix: Fix) {
        scratch.append(keys.extensions.begin)
        let begin = scratch.count
        if let accuracy = fix.horizontalAccuracy { append(numbers.text(of: accuracy), in: keys.horizontalAccuracy) }
        if let accuracy = fix.verticalAccuracy { append(numbers.text(of: accuracy), in: keys.verticalAccuracy) }
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(keys.speed.begin)
            scratch.append(tenths: speed, numbers: numbers)
            scratch.append(keys.speed.end)
        }
        if let course = fix.course { append(numbers.text(below1000: UInt32(course.degrees)), in: keys.course) }
        if let heading = fix.heading { append(numbers.text(below1000: UInt32(heading.degrees)), in: keys.heading) }
        if let battery = fix.batteryPercent { append(numbers.text(below1000: UInt32(battery)), in: keys.battery) }
        if scratch.count == begin {
            scratch.removeLast(keys.extensions.begin.count)
        } else {
            scratch.append(keys.extensions.end)
        }
    }

    @inline(__always)
    private mutating func append(_ text: InlineWord, in element: Element) {
        scratch.append(element.begin)
        scratch.append(text)
        scratch.append(element.end)
    }

    /// Begins a segment, and before it a track if the collar or the animal is another one. Nothing begins if the fix continues
    /// the open segment.
    @inline(never)
    private mutating func beginSegment(for sequence: UInt32, in bytes: inout [UInt8]) {
        let log = logs.current
        if let open {
            let isSameTrack = open.log.deviceID == log.deviceID && open.log.head == log.head
            if isSameTrack, open.log.logID == log.logID, open.next == sequence { return }
            bytes += "</trkseg>\n".utf8
            if !isSameTrack { bytes += "</trk>\n".utf8 + log.head }
        } else {
            bytes += log.head
        }
        bytes += "<trkseg>\n".utf8
        open = (log, sequence)
    }

    /// Messages and fixes share the sequences of a log: where a message stands, no fix is missing.
    mutating func append(_ message: JournaledMessage, deviceID: UInt64, to bytes: inout [UInt8]) {
        guard let open, open.log.deviceID == deviceID, open.log.logID == message.logID, open.next == message.message.sequence else {
            return
        }
        self.open?.next = message.message.sequence &+ 1
    }

    mutating func end(into bytes: inout [UInt8]) {
        if open != nil { bytes += "</trkseg>\n</trk>\n".utf8 }
        bytes += "</gpx>\n".utf8
        open = nil
    }

    mutating func setDeployments(_ deployments: DeploymentTable) { logs.setDeployments(deployments) }
}
