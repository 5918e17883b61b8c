import CollarBridge
import CollarReceiver
import CollarWire

/// `collar-link decode`: writes frames as JSON lines or as text.
enum DecodeCommand {
    static let spec = CommandSpec(
        name: "decode",
        title: "turn frames or a capture into lines",
        synopsis: "collar-link decode [FILE|-] [-F FORMAT] [--bare] [--device ID --log-id N | --device ID --key-file FILE]",
        summary: """
            Reads frames of the Collar Link Protocol (stdin without FILE), as they stand on a serial line, and writes
            the fixes as JSON lines or in another format, or every message as text. What is damaged is skipped and counted on stderr.
            A capture of 'run --write' is recognised: the frames of all its ports are read, each with its time.
            """,
        options: [
            OptionSpec("-F", "--format", value: "FORMAT", is: "how to write the fixes (json); text: every field of every message"),
            OptionSpec("--flavour", value: "full|compact", is: "shape of lines of JSON (full)"),
            OptionSpec("--bare", is: "frames stand behind 2 bytes of length each (big-endian), without stuffing"),
            OptionSpec("--device", value: "ID", is: "device id of a capture without an identity, 16 hexadecimal digits"),
            OptionSpec("--log-id", value: "N", is: "log id of a capture without an identity"),
            OptionSpec("--key-file", value: "FILE", is: "open sealed frames of the collar --device with the key in FILE"),
        ],
        maximumOperandCount: 1,
        notes: """
            formats:
            \(formatList { $0 == .text ? "every field of every message, for people" : $0.summary })

            Sealed frames open from the first identity of a boot on. Exit code 65: no frame of the input is valid, or it is cut off
            inside a frame (--bare)
            """)

    static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> ExitCode {
        var decoding = FrameDecoding(try arguments.formatOptions())
        if let key = try arguments.key() {
            guard let deviceID = try arguments.deviceID("--device") else {
                throw CommandFailure(.usage, "--key-file wants the collar whose key it is: --device ID")
            }
            decoding.open(with: key, deviceID: deviceID)
        } else if arguments.has("--device") || arguments.has("--log-id") {
            decoding.learn(try arguments.log(), nextSequence: nil)
        }
        var input = try ChunkInput(path: arguments.operands.first ?? "-")
        let isBare = arguments.has("--bare")
        var fault: CaptureError?
        let byteCount: Int
        let isCapture = try input.hasPrefix(CaptureReader.magic)
        if isCapture {
            var capture = CaptureDecoding()
            try capture.decode(&input, &decoding)
            (byteCount, fault) = (capture.byteCount, capture.fault)
        } else {
            byteCount = try isBare ? decodeBare(&input, &decoding) : decodeSerial(&input, &decoding)
        }
        try decoding.finish()
        if let summary = decoding.summaryOfRejected { StandardError.say(summary) }
        if decoding.unverifiedCount > 0 {
            StandardError.say(
                "unverified: \(decoding.unverifiedCount) sequences were solved from the CRC alone, as no frame before them "
                    + "tells where the log is; one of 256 damaged frames has such a sequence")
        }
        if let message = fault?.message(path: input.path) {
            // What a power cut left of the last record is no fault of the others.
            guard fault?.problem == .cut else { throw CommandFailure(message) }
            StandardError.say(message.reason, remedy: message.remedy)
        }
        guard decoding.frameCount > 0 || byteCount == 0 else {
            throw CommandFailure(
                .corruptInput, "no frame of the \(byteCount) bytes is valid",
                remedy: isCapture ? "give --device and --log-id if there is no identity among them" : "give them \(isBare ? "without" : "with") --bare if that is how they were captured, and --device and --log-id "
                    + "if there is no identity among them")
        }
        return .clean
    }

    /// - Returns: how many bytes were read.
    private static func decodeSerial(
        _ input: inout ChunkInput, _ decoding: inout FrameDecoding
    ) throws(CommandFailure) -> Int {
        var stream = StreamDecoder()
        var offset = 0
        var frameStart = 0
        while let chunk = try input.next() {
            var index = 0
            while let event = stream.next(in: chunk.span, at: &index) {
                switch event {
                case .frame: decoding.decode(stream.frame, at: FramePlace(offset: frameStart))
                case .rejected(let fault): decoding.reject(fault, at: FramePlace(offset: frameStart))
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
        _ input: inout ChunkInput, _ decoding: inout FrameDecoding
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
            throw CommandFailure(.corruptInput, "byte \(offset): the input ends inside a frame")
        }
        return offset
    }
}
