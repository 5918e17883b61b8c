import CollarErrors
import CollarReceiver
import CollarWire

enum DecodeCommand: Command {
    static let spec = CommandSpec(
        name: "decode",
        title: "turn frames or a capture into lines",
        synopsis: """
            collar-link decode [FILE|-] [-F FORMAT] [--bare]
            collar-link decode [FILE|-] --device ID --log-id N [options]
            collar-link decode [FILE|-] --device ID --key-file FILE [options]
            """,
        summary: """
            Reads frames of the Collar Link Protocol from FILE or stdin, and writes the fixes in them. FILE contains the bytes of a serial
            line, or is a capture of `run --write`. Of a capture, all ports and both directions are read. Damaged frames are
            skipped and counted on stderr.
            """,
        options: [
            .format, .unknownAccuracy, .flavour,
            OptionSpec("--bare", is: "input is bare frames, each after 2 bytes of length (big-endian)"),
            OptionSpec("--device", value: "ID", is: "id of the collar, 16 hexadecimal digits (default: from the frames)"),
            OptionSpec("--log-id", value: "N", is: "id of the log, 0 to 67108863 (default: from the frames)"),
            OptionSpec("--key-file", value: "FILE", is: "key that opens the sealed frames that the collar in `--device` sent; those of the receiver stay closed"),
        ],
        maximumOperandCount: 1,
        notes: """
            formats:
            \(formatList { $0 == .text ? "every field of every message, with its place" : $0.summary })

            \(formatNotes)

            Sealed frames can be opened from the first identity after a boot on. Fixes in frames without an identity need `--device` and
            `--log-id`.

            Live fixes refer to earlier fixes. Start recording before the collar starts. For a capture that begins later, use
            `collar-link --read` with a copy of the state directory as it was when the capture began. What goes out before the dialect
            of a stick is found may be questions in other dialects; `decode` skips it.

            examples:
              collar-link decode -F text session.pcapng
              collar-link encode track.ndjson | collar-link decode

            exit codes:
              0   done, also if the input is empty
              64  wrong usage
              65  no valid frame, a damaged capture, or `--bare` input that ends in a frame
              66  no such file
              74  stdout cannot be written
              77  no permission
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        var decoding = FrameDecoding(try arguments.formatOptions())
        if let key = try arguments.key() {
            guard let deviceID = try arguments.deviceID("--device") else {
                throw CommandFailure(.usage, "`--key-file` needs the collar whose key it is: `--device ID`.")
            }
            decoding.open(with: key, deviceID: deviceID)
        } else if arguments.has("--device") || arguments.has("--log-id") {
            decoding.learn(try arguments.log(), nextSequence: nil)
        }
        var input = try ChunkInput(path: arguments.operands.first ?? "-")
        let isBare = arguments.has("--bare")
        var fault: CaptureError?
        let byteCount: Int
        let isCapture = try input.hasPrefix(CaptureFormat.magic)
        if isCapture {
            var capture = CaptureDecoding()
            try capture.decode(&input, &decoding)
            (byteCount, fault) = (capture.byteCount, capture.fault)
        } else {
            byteCount = try isBare ? decodeBare(&input, &decoding, arguments.readingStdin()) : decodeSerial(&input, &decoding)
        }
        try decoding.finish()
        StandardError.say(decoding.omission)
        if let summary = decoding.summaryOfRejected { StandardError.say(summary) }
        if decoding.unverifiedCount > 0 {
            StandardError.say(
                "\(counted(decoding.unverifiedCount, "unverified sequence comes", "unverified sequences come")) from the CRC alone, because "
                    + "no earlier frame tells where the log is; one of 256 damaged frames has such a sequence, too.")
        }
        if let message = fault?.message(path: input.path) {
            // A power cut may leave a part of the last record. The records before it are sound.
            guard fault?.problem == .cut else { throw CommandFailure(message) }
            StandardError.say(message)
        }
        guard decoding.frameCount > 0 else {
            guard byteCount > 0 else {
                StandardError.say("There is nothing to decode in \(input.path)" + (isCapture ? ": nothing came in at a port." : "."))
                return .clean
            }
            if let mismatch = input.mismatch(.frames(isBare: isBare), arguments.readingStdin()) { throw mismatch }
            throw CommandFailure(
                .corruptInput, "There is no valid frame in the \(byteCount) bytes.",
                remedy: (isCapture
                    ? "Give `--device` and `--log-id` " : "Give them \(isBare ? "without" : "with") `--bare` if that is how they were captured, and "
                        + "`--device` and `--log-id` ") + "if there is no identity among them.")
        }
        return .clean
    }

    /// - Returns: how many bytes were read.
    private static func decodeSerial(_ input: inout ChunkInput, _ decoding: inout FrameDecoding) throws(CommandFailure) -> Int {
        var stream = StreamDecoder()
        var offset = 0
        var frameStart = 0
        while let chunk = try input.next() {
            var index = 0
            while let event = stream.next(in: chunk.span, at: &index) {
                switch event {
                case .frame: decoding.decode(stream.frame, at: FramePlace(offset: frameStart))
                case .rejected(let fault): decoding.reject(RejectionReason(fault), at: FramePlace(offset: frameStart))
                }
                frameStart = offset + index
            }
            offset += chunk.count
            try decoding.flush()
        }
        return offset
    }

    /// - Returns: how many bytes were read.
    private static func decodeBare(
        _ input: inout ChunkInput, _ decoding: inout FrameDecoding, _ command: ShellCommand
    ) throws(CommandFailure) -> Int {
        var buffer: [UInt8] = []
        var offset = 0
        while let chunk = try input.next() {
            buffer += chunk
            var start = 0
            while buffer.count - start >= 2 {
                let count = Int(buffer[start]) << 8 | Int(buffer[start + 1])
                guard buffer.count - start - 2 >= count else { break }
                decoding.decode(buffer.span.extracting((start + 2)..<(start + 2 + count)), at: FramePlace(offset: offset + start + 2))
                start += 2 + count
            }
            buffer.removeFirst(start)
            offset += start
            try decoding.flush()
        }
        guard buffer.isEmpty else {
            throw input.mismatch(.frames(isBare: true), command)
                ?? CommandFailure(.corruptInput, "The input ends inside a frame, at byte \(offset).")
        }
        return offset
    }
}

struct CaptureDecoding {
    private var reader = CaptureReader()
    private var frames = CaptureFrames()
    /// How many bytes that came in at ports there are.
    private(set) var byteCount = 0
    /// Why the capture cannot be read to its end; nil if it can.
    private(set) var fault: CaptureError?

    /// Decodes all frames of a capture, up to its end or its first damage.
    mutating func decode(_ input: inout ChunkInput, _ decoding: inout FrameDecoding) throws(CommandFailure) {
        while fault == nil, let chunk = try input.next() {
            reader.append(chunk)
            do throws(CaptureError) { while let record = try reader.next() { decode(record, &decoding) } } catch { fault = error }
            try decoding.flush()
        }
        guard fault == nil else { return }
        do throws(CaptureError) { try reader.finish() } catch { fault = error }
    }

    private mutating func decode(_ record: CaptureRecord, _ decoding: inout FrameDecoding) {
        if case .read(let bytes) = record.event { byteCount += bytes.count }
        for finding in frames.take(record, at: reader.recordOffset) {
            let place = FramePlace(
                offset: finding.offset,
                capture: .init(port: record.port, direction: finding.direction, unixMilliseconds: finding.unixMilliseconds))
            switch finding.content {
            case .packet(let packet): decoding.decode(packet.span, at: place)
            case .rejected(let fault): decoding.reject(RejectionReason(fault), at: place)
            }
        }
    }
}
