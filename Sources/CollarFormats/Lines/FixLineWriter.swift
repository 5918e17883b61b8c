import CollarJournal
import CollarWire

/// Writes fixes as lines of JSON, straight from their integer codes.
///
/// No number passes through a `Double`, so a line contains neither stray digits nor −0. An unknown altitude, heading or
/// time of reception is null, an unknown name, signal strength or signal-to-noise ratio is left out, and any other unknown
/// value is −1. Writing a line allocates nothing if the buffer is large enough and the texts of the fix's log are already kept.
package struct FixLineWriter: FormatWriter, Sendable {
    package enum Flavour: String, Sendable, CaseIterable {
        /// All keys; the position is in a nested `coordinate`.
        case full
        /// `lat` and `lon` at the top level and no `id`; otherwise as ``full``.
        case compact
    }

    private let flavour: Flavour
    private let sourceOverride: FixSource?
    private let keys: FixLineKeys
    private let numbers = NumberBytes()
    private var scratch = LineScratch()
    private var logs: LogMemory
    var deployments: DeploymentTable {
        didSet { logs = LogMemory(deployments) }
    }

    /// Creates a writer.
    /// - Parameter sourceAs: the `source` to write in every line, for a program that knows only `watchOS` and `iOS`; nil to write
    ///   each fix's own source.
    package init(flavour: Flavour = .full, sourceAs: FixSource? = nil, deployments: DeploymentTable = DeploymentTable()) {
        self.flavour = flavour
        sourceOverride = sourceAs
        keys = FixLineKeys(flavour)
        logs = LogMemory(deployments)
        self.deployments = deployments
    }

    func append(_ message: JournaledMessage, deviceID: DeviceID, to bytes: inout [UInt8]) {
        bytes += message.line(deviceID: deviceID, name: deployments.wearer(of: deviceID, at: message.unixMilliseconds)?.name)
    }

    func append(_ change: GapChange, deviceID: DeviceID, to bytes: inout [UInt8]) {
        bytes += change.line(deviceID: deviceID, name: deployments.wearer(of: deviceID, at: change.unixMilliseconds)?.name)
    }

    func append(_ line: AlertLine, to bytes: inout [UInt8]) { bytes += line.json }

    func append(event line: [UInt8], to bytes: inout [UInt8]) { bytes += line }

    /// Appends one line, which ends with a line feed.
    ///
    /// Complexity: about 950 instructions, independent of the buffer's length unless it has to grow.
    /// - Precondition: the fix is valid (`Fix.validate()`).
    package mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        logs.find(received)
        scratch.removeAll()
        scratch.append(keys.head)
        if flavour == .full {
            scratch.append(logs.current.identifierHead)
            scratch.append(hexadecimal: fix.sequence)
        }
        scratch.append(keys.time)
        scratch.append(fix.unixMilliseconds)
        scratch.append(keys.source(sourceOverride ?? fix.source))
        scratch.append(keys.latitude)
        scratch.append(degrees: fix.latitudeSteps, fix.positionStep, numbers: numbers)
        scratch.append(keys.longitude)
        scratch.append(degrees: fix.longitudeSteps, fix.positionStep, numbers: numbers)
        appendValues(fix)
        appendProvenance(received)
        if logs.current.isNamed || received.whereabouts != nil {
            // Names may be longer than the scratch memory.
            scratch.copy(to: &bytes)
            bytes += logs.current.name
            if let whereabouts = received.whereabouts { bytes.append(whereabouts) }
            scratch.removeAll()
        }
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }

    /// Appends altitude, accuracies, motion and battery.
    @inline(__always)
    private mutating func appendValues(_ fix: Fix) {
        scratch.append(keys.altitude)
        if let steps = fix.altitudeSteps {
            scratch.append(altitude: steps, fix.altitudeStep, numbers: numbers)
        } else {
            scratch.append(keys.null)
        }
        scratch.append(keys.horizontalAccuracy)
        appendAccuracy(fix.horizontalAccuracy)
        scratch.append(keys.verticalAccuracy)
        appendAccuracy(fix.verticalAccuracy)
        appendMotion(fix)
        scratch.append(keys.battery)
        if let battery = fix.batteryPercent {
            scratch.append(numbers.text(below1000: UInt32(battery)))
        } else {
            scratch.append(keys.unknown)
        }
    }

    @inline(__always)
    private mutating func appendAccuracy(_ accuracy: AccuracyCode?) {
        if let accuracy {
            scratch.append(numbers.text(of: accuracy))
        } else {
            scratch.append(keys.unknown)
        }
    }

    @inline(__always)
    private mutating func appendMotion(_ fix: Fix) {
        scratch.append(keys.speed)
        if let speed = fix.speedDecimetersPerSecond {
            scratch.append(tenths: speed, numbers: numbers)
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.course)
        if let course = fix.course {
            scratch.append(course, numbers: numbers)
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.heading)
        if let heading = fix.heading {
            scratch.append(heading, numbers: numbers)
        } else {
            scratch.append(keys.null)
        }
    }

    /// Appends where the fix is from, and how it was received.
    @inline(__always)
    private mutating func appendProvenance(_ received: ReceivedFix) {
        scratch.append(keys.sequence)
        scratch.append(Int64(received.fix.sequence))
        scratch.append(logs.current.collar)
        scratch.append(logs.current.log)
        if let milliseconds = received.receivedUnixMilliseconds {
            scratch.append(milliseconds)
        } else {
            scratch.append(keys.null)
        }
        guard let signal = received.signal else { return }
        scratch.append(keys.strength)
        scratch.append(Int64(signal.strengthDBm))
        guard let tenths = signal.signalToNoiseTenthsDB else { return }
        scratch.append(keys.signalToNoise)
        scratch.appendMinus(if: tenths < 0)
        scratch.append(tenths: UInt32(tenths.magnitude), numbers: numbers)
    }
}

extension [UInt8] {
    /// Appends the members of an object of JSON that follow others; what is unknown is left out.
    mutating func append(_ whereabouts: Whereabouts) {
        if let place = whereabouts.place {
            append(#","place":"#)
            append(jsonString: place)
        }
        if whereabouts.isPrivate { append(#","private":true"#) }
        appendRow { row in
            row.append(#","distance_m":"#, ifKnown: whereabouts.distanceMeters)
            row.append(#","bearing_deg":"#, ifKnown: whereabouts.bearingDegrees)
        }
    }
}

/// The constant pieces of a fix line, in the order of the line, then the texts that stand for unknown values.
private struct FixLineKeys {
    let head: InlineBytes
    let time: InlineBytes
    private let watchOS = FixLineKeys.text(of: .watchOS)
    private let iOS = FixLineKeys.text(of: .iOS)
    private let collar = FixLineKeys.text(of: .collar)
    let latitude: InlineBytes
    let longitude: InlineBytes
    let altitude: InlineBytes
    let horizontalAccuracy = InlineBytes(",\"h_accuracy_m\":")
    let verticalAccuracy = InlineBytes(",\"v_accuracy_m\":")
    let speed = InlineBytes(",\"speed_mps\":")
    let course = InlineBytes(",\"course_deg\":")
    let heading = InlineBytes(",\"heading_deg\":")
    let battery = InlineBytes(",\"battery_pct\":")
    let sequence = InlineBytes(",\"seq\":")
    let strength = InlineBytes(",\"rssi_dbm\":")
    let signalToNoise = InlineBytes(",\"snr_db\":")
    let end = InlineBytes("}\n")
    let null = InlineBytes("null")
    /// Stands for an unknown accuracy, speed, course or battery.
    let unknown = InlineBytes("-1")

    init(_ flavour: FixLineWriter.Flavour) {
        switch flavour {
        case .full:
            head = InlineBytes("{\"type\":\"fix\",\"id\":\"")
            time = InlineBytes("\",\"ts_unix_ms\":")
            latitude = InlineBytes(",\"coordinate\":{\"latitude\":")
            longitude = InlineBytes(",\"longitude\":")
            altitude = InlineBytes("},\"alt_m\":")
        case .compact:
            head = InlineBytes("{\"type\":\"fix\"")
            time = InlineBytes(",\"ts_unix_ms\":")
            latitude = InlineBytes(",\"lat\":")
            longitude = InlineBytes(",\"lon\":")
            altitude = InlineBytes(",\"alt_m\":")
        }
    }

    private static func text(of source: FixSource) -> InlineBytes { InlineBytes(",\"source\":\"\(source.name)\"") }

    @inline(__always)
    func source(_ source: FixSource) -> InlineBytes {
        switch source {
        case .watchOS: watchOS
        case .iOS: iOS
        case .collar: collar
        }
    }
}

/// The values of a fix in decimal, in degrees, metres and metres a second, without trailing zeros.
extension LineScratch {
    /// Appends a latitude or longitude in degrees.
    @inline(__always)
    fileprivate mutating func append(degrees steps: Int32, _ step: PositionStep, numbers: NumberBytes) {
        // Positions are scaled to the finest step, so that the divisor is constant; 180° is 1.8e9 of these, below 2^32.
        let tenMillionths: UInt32 =
            switch step {
            case .e5: 100
            case .e6: 10
            case .e7: 1
            }
        appendMinus(if: steps < 0)
        append(tenMillionths: steps.magnitude &* tenMillionths, numbers: numbers)
    }

    @inline(__always)
    fileprivate mutating func append(altitude steps: Int32, _ step: AltitudeStep, numbers: NumberBytes) {
        appendMinus(if: steps < 0)
        switch step {
        case .meter: append(steps.magnitude, numbers: numbers)
        case .decimeter: append(tenths: steps.magnitude, numbers: numbers)
        }
    }

    /// Appends a direction in degrees.
    @inline(__always)
    fileprivate mutating func append(_ angle: AngleCode, numbers: NumberBytes) {
        append(numbers.text(below1000: UInt32(angle.steps) * 2))
    }
}

/// The pieces of a line of JSON that are the same for every fix of one log while the same animal wears the collar.
struct LogTexts: Sendable {
    /// The fix's UUID without its last eight digits, which are the sequence.
    let identifierHead: InlineBytes
    /// The key `collar` with its value.
    let collar: InlineBytes
    /// The key `log` with its value, and the key that follows.
    let log: InlineBytes
    let isNamed: Bool
    /// The key `name` with its value; empty if it is unknown.
    let name: [UInt8]

    init(_ identifier: FixIdentifier, _ animal: Animal?) {
        identifierHead = InlineBytes(String(identifier.text.dropLast(8)))
        collar = InlineBytes(",\"collar\":\"\(identifier.deviceID)\"")
        log = InlineBytes(",\"log\":\(identifier.logID),\"rx_unix_ms\":")
        var name: [UInt8] = []
        if let animal {
            name.append(#","name":"#)
            name.append(jsonString: animal.name)
        }
        isNamed = animal != nil
        self.name = name
    }
}

/// Makes ``LogTexts`` once for each log, and again where another animal wears the collar.
struct LogMemory: Sendable {
    private struct Key {
        let deviceID: DeviceID
        let logID: LogID
        /// The times of fixes for which the texts are right, in milliseconds since 1970.
        let firstUnixMilliseconds: Int64
        let lastUnixMilliseconds: Int64

        @inline(__always)
        func holds(_ received: ReceivedFix) -> Bool {
            deviceID == received.deviceID && logID == received.logID && firstUnixMilliseconds <= received.fix.unixMilliseconds
                && received.fix.unixMilliseconds <= lastUnixMilliseconds
        }
    }

    /// The largest number of logs whose texts are kept.
    private static let rememberedLogs = 64

    private let deployments: DeploymentTable
    private var known: [(key: Key, texts: LogTexts)] = []
    /// The key of ``current``; at first one that holds no fix.
    private var key = Key(deviceID: 0, logID: 0, firstUnixMilliseconds: .max, lastUnixMilliseconds: .min)
    /// The texts of the log that the last call of ``find(_:)`` looked for.
    private(set) var current = LogTexts(FixIdentifier(deviceID: 0, logID: 0, sequence: 0), nil)

    init(_ deployments: DeploymentTable) { self.deployments = deployments }

    /// Looks for the log of a fix. The log of the last fix is tested first.
    @inline(__always)
    mutating func find(_ received: ReceivedFix) {
        if !key.holds(received) { search(received) }
    }

    /// Not inlined, because a change from one collar to another is rare.
    @inline(never)
    private mutating func search(_ received: ReceivedFix) {
        if let found = known.first(where: { $0.key.holds(received) }) {
            (key, current) = found
            return
        }
        // No user has that many collars, but anyone can send frames, and forged ids must not fill the memory.
        if known.count == LogMemory.rememberedLogs { known.removeAll(keepingCapacity: true) }
        let (animal, times) = deployments.period(of: received.deviceID, around: received.fix.unixMilliseconds)
        key = Key(
            deviceID: received.deviceID, logID: received.logID, firstUnixMilliseconds: times.lowerBound,
            lastUnixMilliseconds: times.upperBound)
        current = LogTexts(received.identifier, animal)
        known.append((key, current))
    }
}
