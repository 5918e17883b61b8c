import CheckedNumbers
import CollarWire

/// The bytes that come from a port, and the signs in them of the firmware at its other end.
struct HeardBytes: Sendable {
    /// A sign that needs no question.
    enum Sign: Equatable, Sendable {
        /// The answer of RNode firmware, or the frame with which it starts.
        case rnode
        /// The answer of MeshCore's KISS modem.
        case kiss
        case commandStatus
        /// Frames of the protocol's serial line.
        case serial
        /// Sentences of a GNSS receiver.
        case nmea
    }

    /// This many bytes without a plausible frame are not the rest of a frame of the serial line, which has at most 255 bytes.
    private static let frameTailLimit = 300
    private static let limit = 16_384
    /// Frames with a plausible header that show the serial line. One such frame can come about by chance.
    private static let plausibleFrameCount = 2
    private static let sentenceCount = 2
    /// Questions that only come back if the line echoes.
    private static let questions = [RNodeCommand.detection, MeshCoreCommand.frame(MeshCoreCommand.ping)]
    /// Words in the texts of a login or a command line.
    private static let consoleWords = ["login:", "password:", "command not found", ": not found"]
    /// The question of MeshCore's companion firmware for the device, with version 1 of its protocol, which changes nothing but the
    /// form of its answers: a frame of two bytes.
    ///
    /// Source: `src/helpers/ArduinoSerialInterface.cpp` and `examples/companion_radio/MyMesh.cpp` of MeshCore 1.17.1.
    static let companionQuestion: [UInt8] = [UInt8(ascii: "<"), 2, 0, 22, 1]
    /// The code of the answer.
    private static let companionAnswer: UInt8 = 13

    /// All bytes, oldest first.
    private(set) var bytes: [UInt8] = []
    private var frames = KISSFrame.Decoder()
    private var kissFrameCount = 0
    private var isEcho = false
    private var stream = StreamDecoder()
    /// Pieces between the delimiters of the serial line, and those among them that are frames with a plausible header.
    private var pieceCount = 0
    private var plausibleCount = 0
    private var lines = RUI3Line.Decoder()
    private var firstText: String?
    private var validSentenceCount = 0
    /// Whether a board has written the text of its start.
    private(set) var isBootText = false
    private var previous: UInt8 = 0
    private var isMeshtastic = false

    /// Takes bytes.
    /// - Returns: the first sign in them; nil if there is none.
    mutating func take(_ new: Span<UInt8>) -> Sign? {
        var sign: Sign?
        for index in new.indices {
            let byte = new[index]
            if bytes.count < HeardBytes.limit { bytes.append(byte) }
            if byte == 0xC3, previous == 0x94 { isMeshtastic = true }
            previous = byte
            if let frame = frames.take(byte) { sign = sign ?? note(frame) }
            if let line = lines.take(byte) { sign = sign ?? note(line) }
        }
        return sign ?? noteStream(new)
    }

    private mutating func note(_ frame: KISSFrame) -> Sign? {
        guard !HeardBytes.questions.contains(frame) else {
            isEcho = true
            return nil
        }
        kissFrameCount += 1
        switch (frame.type, frame.data.first) {
        case (RNodeCommand.detect, RNodeCommand.detectAnswer), (RNodeCommand.reset, RNodeCommand.hasStarted): return .rnode
        case (MeshCoreCommand.hardware, MeshCoreCommand.ping | MeshCoreCommand.answerBit): return .kiss
        default: return nil
        }
    }

    private mutating func note(_ line: String) -> Sign? {
        let line = HeardBytes.withoutColours(line)
        switch RUI3Line(line) {
        case .ok, .failed: return .commandStatus
        default: break
        }
        if HeardBytes.isSentence(line) {
            validSentenceCount += 1
            return validSentenceCount >= HeardBytes.sentenceCount ? .nmea : nil
        }
        let printable = line.utf8.allSatisfy { (32..<127).contains($0) || $0 == 9 }
        guard printable, line.utf8.count >= 4 else { return nil }
        if firstText == nil { firstText = line }
        let lowercase = line.lowercased()
        if ["ets ", "rst:0x", "esp-rom", "boot:0x", "guru meditation", "bootloader"].contains(where: lowercase.contains) {
            isBootText = true
        }
        if lowercase.contains(text: "meshtastic") || HeardBytes.isMeshtasticLog(line) { isMeshtastic = true }
        return nil
    }

    /// A line without the sequences that colour it in a terminal.
    private static func withoutColours(_ line: String) -> String {
        guard line.utf8.contains(0x1B) else { return line }
        var bytes: [UInt8] = []
        var isInSequence = false
        for byte in line.utf8 {
            if byte == 0x1B { isInSequence = true } else if !isInSequence { bytes.append(byte) }
            // A letter ends a sequence.
            if isInSequence, (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) { isInSequence = false }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a line has the form of Meshtastic's log: a level, and the time of day or question marks.
    ///
    /// Source: `src/RedirectablePrint.cpp` of Meshtastic's firmware 2.5.
    private static func isMeshtasticLog(_ line: String) -> Bool {
        let parts = line.split(separator: "|", maxSplits: 1)
        guard parts.count == 2, let level = parts[0].split(separator: " ").first,
            ["DEBUG", "INFO", "WARN", "ERROR", "CRIT", "TRACE", "HEAP"].contains(level)
        else { return false }
        let time = Array(parts[1].utf8.drop { $0 == UInt8(ascii: " ") }.prefix(8))
        return time.count == 8 && time[2] == UInt8(ascii: ":") && time[5] == UInt8(ascii: ":")
    }

    /// Whether the answer of MeshCore's companion firmware to ``companionQuestion`` came in whole.
    private var isCompanion: Bool {
        bytes.indices.contains { index in
            guard bytes[index] == UInt8(ascii: ">"), index + 4 <= bytes.count, bytes[index + 2] == 0 else { return false }
            let byteCount = Int(bytes[index + 1])
            return byteCount >= 8 && bytes[index + 3] == HeardBytes.companionAnswer && index + 3 + byteCount <= bytes.count
        }
    }

    private var isConsole: Bool {
        let text = String(decoding: bytes, as: UTF8.self).lowercased()
        return HeardBytes.consoleWords.contains(where: text.contains)
    }

    /// Whether a line is a sentence of NMEA 0183 with a valid checksum.
    private static func isSentence(_ line: String) -> Bool {
        let bytes = Array(line.utf8)
        guard bytes.count > 6, bytes[0] == UInt8(ascii: "$") || bytes[0] == UInt8(ascii: "!"),
            let star = bytes.lastIndex(of: UInt8(ascii: "*")), star + 3 == bytes.count,
            let sum = UInt8(digits: bytes[(star + 1)...], radix: 16, in: 0 ... .max)
        else { return false }
        return bytes[1..<star].reduce(0, ^) == sum
    }

    private mutating func noteStream(_ new: Span<UInt8>) -> Sign? {
        var position = 0
        while let event = stream.next(in: new, at: &position) {
            pieceCount += 1
            guard case .frame = event else { continue }
            if FrameCRC.isValid(stream.frame, log: nil) { return .serial }
            if (try? FrameHeader(ofAny: stream.frame))?.type != nil { plausibleCount += 1 }
            if plausibleCount >= HeardBytes.plausibleFrameCount, kissFrameCount == 0 || isMostlyFrames { return .serial }
        }
        return nil
    }

    /// Whether the pieces between delimiters are frames of the serial line, apart from one that began before this listened. Such
    /// frames contain the signs of a few bytes by chance: two 0xC0, with a KISS frame between them, are in any 500 bytes.
    private var isMostlyFrames: Bool { plausibleCount > 0 && plausibleCount * 2 >= pieceCount }

    /// The kind of device at the port, judged by all bytes; nil if they show none.
    var stranger: Stranger? {
        if validSentenceCount > 0 { return .nmea }
        if !isMostlyFrames {
            if isMeshtastic { return .meshtastic }
            if isCompanion { return .companion }
        }
        if isBootText { return .bootloader }
        if !isMostlyFrames {
            if isConsole { return .console }
            if kissFrameCount > 0 { return .silentKISS }
        }
        if let firstText { return .text(firstText) }
        if isEcho, !isMostlyFrames { return .echo }
        return bytes.count > HeardBytes.frameTailLimit && plausibleCount == 0 ? .bytesWithoutFrames : nil
    }
}
