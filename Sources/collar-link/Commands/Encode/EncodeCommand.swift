import CollarErrors
import CollarWire

enum EncodeCommand: Command {
    static let spec = CommandSpec(
        name: "encode",
        title: "turn JSON lines into frames",
        synopsis: "collar-link encode [FILE|-] [options]",
        summary: """
            Reads fix lines of JSON from FILE or stdin, and writes frames of the Collar Link Protocol to stdout, as on a serial line: an
            identity, then the fixes.
            """,
        options: [
            OptionSpec(
                "--mode", value: "MODE",
                is: "`absolute`: one complete fix per frame; `live`: the difference to an earlier fix; `batch`: many fixes per frame (default absolute)"),
            OptionSpec("--batch", value: "N", is: "with `--mode batch`: most fixes in a frame, 1 to 64 (default 64)"),
            OptionSpec("--anchor-lag", value: "N", is: "with `--mode live`: refer to the fix N before, 1 to 127 (default 1)"),
            OptionSpec(
                "--precision", value: "5|6|7", is: "decimal places of latitude and longitude (default 5, or more if the fix is that accurate)"),
            OptionSpec("--max-frame", value: "BYTES", is: "largest frame in bytes, 51 to 253 (default 253)"),
            OptionSpec("--device", value: "ID", is: "id of the collar, 16 hexadecimal digits (default c0114a0000000001)"),
            OptionSpec("--log-id", value: "N", is: "id of the log, 0 to 67108863 (default 1)"),
            OptionSpec("--address", value: "N", is: "radio address of the collar, 1 to 254 (default 1)"),
            OptionSpec("--bare", is: "write bare frames, each after 2 bytes of length (big-endian)"),
            OptionSpec("--stats", is: "print counts of fixes, frames and bytes as a line of JSON on stderr"),
        ],
        maximumOperandCount: 1,
        notes: """
            The output is binary, and not written to a terminal. `encode` stops at the first line that is not a fix; the frames of the lines before it are written.
            Unpack compressed tracks first: `zcat track.ndjson.gz | collar-link encode`.

            examples:
              collar-link encode track.ndjson > capture.bin
              collar-link encode --mode live --stats track.ndjson > /dev/null

            exit codes:
              0   done, also if the input is empty
              64  wrong usage
              65  a line is not a fix
              66  no such file
              74  stdout cannot be written
              77  no permission
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        let options = try EncodeOptions(arguments)
        guard !Terminal.isOutput else {
            throw CommandFailure(
                .usage, "The output is a terminal, and frames are binary.",
                remedy: "Write them to a file or a program: `collar-link encode FILE > frames.bin`.")
        }
        var encoder = TrackEncoder(options: options)
        // Frames are not written to a terminal.
        let command = arguments.readingStdin().writing(to: "frames.bin")
        var lines = try LineInput(path: arguments.operands.first ?? "-", for: command)
        do throws(CommandFailure) {
            while let line = try lines.next() {
                let fix = try TrackFile.fix(
                    fromLine: line, of: lines, defaultSequence: encoder.statistics.fixes, precision: options.precision)
                try encoder.encode(fix, lineNumber: lines.lineNumber)
            }
        } catch {
            try encoder.finish()
            throw error
        }
        try encoder.finish()
        if options.printsStatistics { StandardError.write(encoder.statistics.json + "\n") }
        if encoder.statistics.fixes == 0 { StandardError.say(TrackFile.nothing(in: lines).message) }
        return .clean
    }
}

struct EncodeOptions {
    enum Mode {
        case absolute
        /// Each fix is coded against its anchor, the fix that is `anchorLag` fixes earlier.
        case live(anchorLag: Int)
        /// A frame contains at most `limit` fixes.
        case batch(limit: Int)
    }

    let mode: Mode
    let precision: PositionStep?
    let maximumFrameByteCount: Int
    let log: LogIdentity
    let address: UInt8
    let isBare: Bool
    let printsStatistics: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let anchorLag = try arguments.integer("--anchor-lag", in: 1...Int(LiveFix.maximumLead))
        let batchLimit = try arguments.integer("--batch", in: 1...Batch.maximumCount)
        let modes: KeyValuePairs<String, Mode> = [
            "absolute": .absolute, "live": .live(anchorLag: anchorLag ?? 1),
            "batch": .batch(limit: batchLimit ?? Batch.maximumCount),
        ]
        mode = try arguments.choice("--mode", of: modes) ?? .absolute
        let digits = try arguments.integer("--precision", in: 5...7)
        precision = digits.flatMap { PositionStep(rawValue: UInt8($0 - 5)) }
        maximumFrameByteCount =
            try arguments.integer("--max-frame", in: Frame.minimumLimitByteCount...Frame.maximumByteCount)
            ?? Frame.maximumByteCount
        log = try arguments.log()
        address = UInt8(try arguments.integer("--address", in: 1...254) ?? 1)
        isBare = arguments.has("--bare")
        printsStatistics = arguments.has("--stats")
    }
}

extension ParsedArguments {
    /// The log of `--device` and `--log-id`, with defaults for both.
    func log() throws(CommandFailure) -> LogIdentity {
        let deviceID = try deviceID("--device") ?? 0xC011_4A00_0000_0001
        let logID = try integer("--log-id", in: 0...Int(LogID.max.rawValue)) ?? 1
        return LogIdentity(deviceID: deviceID, logID: LogID(lowBitsOf: UInt32(logID)))
    }
}
