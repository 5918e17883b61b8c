import CollarWire

/// The values of a fix in decimal, as most formats give them: without trailing zeros, in degrees, metres and metres a second.
extension LineScratch {
    /// Ten-millionths of a degree in a step. Positions are scaled to the finest step, so that the divisor is constant; 180° is
    /// 1.8e9 of these, below 2^32.
    @inline(__always)
    static func tenMillionths(in step: PositionStep) -> UInt32 {
        switch step {
        case .e5: 100
        case .e6: 10
        case .e7: 1
        }
    }

    /// Appends a latitude or longitude in degrees.
    @inline(__always)
    mutating func append(degrees steps: Int32, _ step: PositionStep, numbers: NumberBytes) {
        appendMinus(if: steps < 0)
        append(tenMillionths: steps.magnitude &* LineScratch.tenMillionths(in: step), numbers: numbers)
    }

    /// Appends an altitude in metres.
    @inline(__always)
    mutating func append(altitude steps: Int32, _ step: AltitudeStep, numbers: NumberBytes) {
        appendMinus(if: steps < 0)
        switch step {
        case .meter: append(steps.magnitude, numbers: numbers)
        case .decimeter: append(tenths: steps.magnitude, numbers: numbers)
        }
    }

    /// Appends a direction in degrees.
    @inline(__always)
    mutating func append(_ angle: AngleCode, numbers: NumberBytes) {
        append(numbers.text(below1000: UInt32(angle.steps) * 2))
    }

    /// Appends a signal-to-noise ratio, given in tenths of a decibel, in decibels.
    @inline(__always)
    mutating func append(signalToNoiseTenthsDB tenths: Int, numbers: NumberBytes) {
        appendMinus(if: tenths < 0)
        append(tenths: UInt32(tenths.magnitude), numbers: numbers)
    }
}
