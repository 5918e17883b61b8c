import CollarBridge
import CollarSimulator
import CollarWire

/// Reads tracks.
enum TrackFile {
    /// The fixes of a file, or of stdin for "-".
    static func fixes(at path: String) throws(CommandFailure) -> [Fix] {
        var fixes: [Fix] = []
        var lines = try LineInput(path: path)
        while let line = try lines.next() {
            fixes.append(
                try fix(
                    fromLine: line, number: lines.lineNumber, at: path, defaultSequence: fixes.count,
                    previousStep: fixes.last?.positionStep))
        }
        return fixes
    }

    /// The fix of one line, in codes.
    static func fix(
        fromLine line: ArraySlice<UInt8>, number: Int, at path: String, defaultSequence: Int, precision: PositionStep? = nil,
        previousStep: PositionStep? = nil
    ) throws(CommandFailure) -> Fix {
        do throws(TrackLineError) {
            let values = try TrackLine.values(of: line, lineNumber: number, defaultSequence: defaultSequence)
            do throws(QuantizationError) {
                return try Fix(quantizing: values, positionStep: precision, previousStep: previousStep)
            } catch {
                throw TrackLineError(
                    lineNumber: number, field: error.field, byteOffset: nil,
                    problem: "\(error.value) is outside \(error.range)")
            }
        } catch {
            throw CommandFailure(.corruptInput, "\(path == "-" ? "stdin" : path): \(error.description)")
        }
    }

    /// A digest of the times and positions of a track; different tracks almost certainly have different digests.
    static func digest(of fixes: [Fix]) -> UInt64 {
        var random = SeededRandom(seed: UInt64(fixes.count))
        var digest = random.next()
        for fix in fixes {
            let position = UInt64(bitPattern: Int64(fix.latitudeSteps)) &* 31 &+ UInt64(bitPattern: Int64(fix.longitudeSteps))
            random = SeededRandom(seed: digest ^ UInt64(bitPattern: fix.unixMilliseconds) ^ (position << 20))
            digest = random.next()
        }
        return digest
    }
}
