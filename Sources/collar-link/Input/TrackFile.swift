import CollarFormats
import CollarErrors
import CollarReceiver
import CollarSimulator
import CollarWire

/// Reads tracks.
enum TrackFile {
    /// The fixes of a file, or of stdin for "-".
    /// - Parameter command: the command that reads them, as it reads stdin.
    static func fixes(at path: String, _ command: ShellCommand) throws(CommandFailure) -> [Fix] {
        var fixes: [Fix] = []
        var lines = try LineInput(path: path, for: command)
        while let line = try lines.next() {
            fixes.append(
                try fix(fromLine: line, of: lines, defaultSequence: fixes.count, previousStep: fixes.last?.positionStep))
        }
        guard !fixes.isEmpty else { throw nothing(in: lines) }
        return fixes
    }

    /// The failure of an input without a fix.
    static func nothing(in lines: borrowing LineInput) -> CommandFailure {
        CommandFailure(.corruptInput, "\(lines.path): there is no fix in it")
    }

    /// The fix of the present line, in codes.
    static func fix(
        fromLine line: ArraySlice<UInt8>, of lines: borrowing LineInput, defaultSequence: Int,
        precision: PositionStep? = nil, previousStep: PositionStep? = nil
    ) throws(CommandFailure) -> Fix {
        let number = lines.lineNumber
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
            if error.field == nil, let mismatch = lines.mismatch { throw mismatch }
            throw CommandFailure(.corruptInput, "\(lines.path): \(error.description)")
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
