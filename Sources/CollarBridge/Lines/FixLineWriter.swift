import CollarWire

/// Writes fixes as lines of JSON, straight from their integer codes.
///
/// No number passes through a `Double`, so a line contains neither stray digits nor −0. An unknown altitude, heading or
/// time of reception is null, an unknown signal strength or signal-to-noise ratio is left out, and any other unknown value is
/// −1. Writing a line allocates nothing if the buffer is large enough and the texts of the fix's log are already kept.
public struct FixLineWriter: Sendable {
    /// The shapes of a fix line.
    public enum Flavour: String, Sendable, CaseIterable {
        /// All keys; the position is in a nested `coordinate`.
        case full
        /// `lat` and `lon` at the top level and no `id`; otherwise as ``full``.
        case compact
    }

    private let flavour: Flavour
    private let keys: FixLineKeys
    private let numbers = NumberBytes()
    private let sourceOverride: FixSource?
    private var scratch = LineScratch()
    /// The constant texts of the logs met so far; the log of the last line is tested first.
    private var collars: [LogLineBytes] = []
    private var lastCollar = 0

    /// Creates a writer.
    /// - Parameters:
    ///   - flavour: the shape of the lines.
    ///   - sourceAs: the `source` to write in every line, for a program that knows only `watchOS` and `iOS`; nil to write
    ///     each fix's own source.
    public init(flavour: Flavour = .full, sourceAs: FixSource? = nil) {
        self.flavour = flavour
        keys = FixLineKeys(flavour)
        sourceOverride = sourceAs
    }

    /// Appends one line, which ends with a line feed.
    ///
    /// Complexity: about 950 instructions, independent of the buffer's length unless it has to grow.
    /// - Precondition: the fix is valid (`Fix.validate()`).
    public mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let fix = received.fix
        find(received)
        scratch.removeAll()
        scratch.append(keys.head)
        if flavour == .full {
            scratch.append(collars[lastCollar].identifierHead)
            scratch.append(hexadecimal: fix.sequence)
        }
        scratch.append(keys.time)
        scratch.append(fix.unixMilliseconds)
        appendSource(sourceOverride ?? fix.source)
        appendPosition(fix)
        appendAltitude(fix)
        appendMotion(fix)
        appendProvenance(received)
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }

    /// Makes `lastCollar` the index of the fix's log.
    @inline(__always)
    private mutating func find(_ received: ReceivedFix) {
        if lastCollar < collars.count, collars[lastCollar].deviceID == received.deviceID,
            collars[lastCollar].logID == received.logID
        {
            return
        }
        search(received)
    }

    /// Not inlined, because a change from one collar to another is rare.
    @inline(never)
    private mutating func search(_ received: ReceivedFix) {
        let known = collars.firstIndex { $0.deviceID == received.deviceID && $0.logID == received.logID }
        if let known {
            lastCollar = known
            return
        }
        // No user has so many collars, but anyone can send frames, and forged ids must not fill the memory.
        if collars.count == FixLineWriter.rememberedCollars { collars.removeAll(keepingCapacity: true) }
        collars.append(LogLineBytes(deviceID: received.deviceID, logID: received.logID))
        lastCollar = collars.count - 1
    }

    /// The largest number of logs whose texts are kept.
    private static let rememberedCollars = 64

    @inline(__always)
    private mutating func appendSource(_ source: FixSource) {
        switch source {
        case .watchOS: scratch.append(keys.sources.watchOS)
        case .iOS: scratch.append(keys.sources.iOS)
        case .collar: scratch.append(keys.sources.collar)
        }
    }

    @inline(__always)
    private mutating func appendPosition(_ fix: Fix) {
        // All three steps are scaled to the finest one, so that the divisor is constant; 180° is 1.8e9 steps, below 2^32.
        let scale: UInt32 =
            switch fix.positionStep {
            case .e5: 100
            case .e6: 10
            case .e7: 1
            }
        scratch.append(keys.latitude)
        scratch.appendMinus(if: fix.latitudeSteps < 0)
        scratch.append(tenMillionths: fix.latitudeSteps.magnitude &* scale, numbers: numbers)
        scratch.append(keys.longitude)
        scratch.appendMinus(if: fix.longitudeSteps < 0)
        scratch.append(tenMillionths: fix.longitudeSteps.magnitude &* scale, numbers: numbers)
    }

    @inline(__always)
    private mutating func appendAltitude(_ fix: Fix) {
        scratch.append(keys.altitude)
        if let steps = fix.altitudeSteps {
            scratch.appendMinus(if: steps < 0)
            switch fix.altitudeStep {
            case .meter: scratch.append(steps.magnitude, numbers: numbers)
            case .decimeter: scratch.append(tenths: steps.magnitude, numbers: numbers)
            }
        } else {
            scratch.append(keys.null)
        }
        scratch.append(keys.horizontalAccuracy)
        appendAccuracy(fix.horizontalAccuracy)
        scratch.append(keys.verticalAccuracy)
        appendAccuracy(fix.verticalAccuracy)
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
            scratch.append(numbers.text(below1000: UInt32(course.steps) * 2))
        } else {
            scratch.append(keys.unknown)
        }
        scratch.append(keys.heading)
        if let heading = fix.heading {
            scratch.append(numbers.text(below1000: UInt32(heading.steps) * 2))
        } else {
            scratch.append(keys.null)
        }
        scratch.append(keys.battery)
        if let battery = fix.batteryPercent {
            scratch.append(numbers.text(below1000: UInt32(battery)))
        } else {
            scratch.append(keys.unknown)
        }
    }

    @inline(__always)
    private mutating func appendProvenance(_ received: ReceivedFix) {
        scratch.append(keys.sequence)
        scratch.append(Int64(received.fix.sequence))
        scratch.append(collars[lastCollar].collar)
        scratch.append(collars[lastCollar].log)
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
