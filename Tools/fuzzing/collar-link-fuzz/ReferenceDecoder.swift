import CollarWire
import Foundation
import FuzzCore

/// The independent decoder as a process that answers line by line.
final class ReferenceDecoder {
    /// The process has ended; its messages are on stderr.
    struct Ended: Error {}

    private let process = Process()
    private let questions = Pipe()
    private let answers = Pipe()
    private var pending = Data()

    init(root: String) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-u", "\(root)/Protocol/reference/collarlink.py", "decode-lines",
            "--device", Hexadecimal.text(of: LogIdentity.fuzzed.deviceID.rawValue), "--log", "\(LogIdentity.fuzzed.logID.rawValue)",
        ]
        process.standardInput = questions
        process.standardOutput = answers
        try process.run()
        // Our copies of the decoder's ends would keep the pipes open when the decoder ends.
        try questions.fileHandleForReading.close()
        try answers.fileHandleForWriting.close()
    }

    /// The line that the decoder prints for a frame, without the name of the frame's type.
    func decode(_ frame: AnyFrameInput) throws -> String {
        var anchor = ReferenceText.null
        if let fix = frame.anchor { anchor = .fields(fix.referenceFields) }
        let question = ReferenceText.fields([
            "bare": .text(Hexadecimal.text(of: frame.bytes)), "anchor": anchor,
            "reference": ReferenceText(frame.reference),
        ])
        try questions.fileHandleForWriting.write(contentsOf: Data((question.description + "\n").utf8))
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[..<end], as: UTF8.self)
                pending.removeSubrange(...end)
                return ReferenceDecoder.withoutName(line)
            }
            let more = answers.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Ended() }
            pending.append(more)
        }
    }

    /// A line without the name with which it begins, unless the type is unknown.
    private static func withoutName(_ line: String) -> String {
        guard line.hasPrefix("{\"name\": "), let comma = line.firstIndex(of: ",") else { return line }
        return "{" + line[comma...].dropFirst(2)
    }
}
