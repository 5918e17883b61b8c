import CollarWire

/// Builds the members of JSON that fix lines and the properties of GeoJSON have in common.
struct FixMembers: Sendable {
    let keys: FixLineKeys
    let numbers = NumberBytes()
    var scratch = LineScratch()

    init(_ keys: FixLineKeys) { self.keys = keys }

    /// Appends altitude, accuracies, motion and battery.
    @inline(__always)
    mutating func appendValues(_ fix: Fix) {
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
    mutating func appendProvenance(_ received: ReceivedFix, collar: InlineBytes, log: InlineBytes) {
        scratch.append(keys.sequence)
        scratch.append(Int64(received.fix.sequence))
        scratch.append(collar)
        scratch.append(log)
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
        scratch.append(signalToNoiseTenthsDB: Int(tenths), numbers: numbers)
    }

    /// Appends the line so far to a buffer, and the member with the name, which may be longer than the scratch memory.
    mutating func append(name: [UInt8], to bytes: inout [UInt8]) {
        scratch.copy(to: &bytes)
        bytes += name
        scratch.removeAll()
    }

    /// Appends the line so far to a buffer, and the end.
    @inline(__always)
    mutating func finish(to bytes: inout [UInt8]) {
        scratch.append(keys.end)
        scratch.copy(to: &bytes)
    }
}
