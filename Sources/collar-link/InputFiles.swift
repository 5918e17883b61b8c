import CollarErrors
import CollarFormats
import CollarReceiver
import CollarSimulator
import CollarWire
import Glibc
import LinuxSystem

/// The bytes of a file or of stdin, in chunks.
struct ChunkInput: ~Copyable {
    /// The path of the file, or `stdin`.
    let path: String
    private let descriptor: Int32
    /// Bytes that were read to look at them.
    private var examined: [UInt8] = []
    /// The first bytes, by which the kind of the content is recognised.
    private var beginning: [UInt8] = []

    /// Opens a file; "-" is stdin.
    init(path: String) throws(CommandFailure) {
        self.path = path == "-" ? "stdin" : path
        descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let code: ExitCode = errno == EACCES ? .noPermission : .noInput
            throw CommandFailure(code, "\(path) cannot be opened: \(SystemError.text(errno)).")
        }
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Whether the input begins with these bytes. They are read all the same.
    mutating func hasPrefix(_ bytes: [UInt8]) throws(CommandFailure) -> Bool {
        while examined.count < bytes.count, let chunk = try read() { examined += chunk }
        return examined.starts(with: bytes)
    }

    /// The failure of a command that cannot use the content; nil if the content may be of the wanted kind.
    /// - Parameter command: the command, as it reads stdin.
    func mismatch(_ use: FileKind.Use, _ command: ShellCommand) -> CommandFailure? {
        FileKind(startingWith: beginning)?.mismatch(path: path, use, command).map { CommandFailure(.corruptInput, $0) }
    }

    /// The next bytes; nil at the end.
    mutating func next() throws(CommandFailure) -> [UInt8]? {
        guard examined.isEmpty else {
            defer { examined = [] }
            return examined
        }
        return try read()
    }

    private mutating func read() throws(CommandFailure) -> [UInt8]? {
        guard let chunk = SystemFiles.read(from: descriptor) else {
            throw CommandFailure(.noInput, "\(path) cannot be read: \(SystemError.text(errno)).")
        }
        beginning += chunk.prefix(FileKind.examinedByteCount - beginning.count)
        return chunk.isEmpty ? nil : chunk
    }
}

/// Reads the non-blank lines of a file or of stdin, in bounded memory.
struct LineInput: ~Copyable {
    /// A line above this limit cannot be a fix. Reading it fails, so that it does not fill the memory.
    private static let lineByteLimit = 1 << 20

    private var chunks: ChunkInput
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// Number of the line that ``next()`` returned last, from 1.
    private(set) var lineNumber = 0

    private let command: ShellCommand?

    /// Opens a file; "-" is stdin.
    /// - Parameter command: the command that reads fixes from the lines, as it reads stdin; nil if the lines hold something else.
    init(path: String, for command: ShellCommand? = nil) throws(CommandFailure) {
        chunks = try ChunkInput(path: path)
        self.command = command
    }

    /// The path of the file, or `stdin`.
    var path: String { chunks.path }

    /// The failure of a command that cannot use the lines, see ``ChunkInput/mismatch(_:_:)``.
    var mismatch: CommandFailure? { command.flatMap { chunks.mismatch(.lines, $0) } }

    /// The next line that is not blank, without its line feed; nil at the end of the input. The byte order mark at the start of a text is
    /// skipped.
    mutating func next() throws(CommandFailure) -> ArraySlice<UInt8>? {
        while true {
            var searched = start
            var end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            while end == nil, !isAtEnd {
                searched = try fill()
                end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n"))
            }
            guard end != nil || start < buffer.count else { return nil }
            var line = buffer[start..<(end ?? buffer.count)]
            if lineNumber == 0 { line = FileKind.withoutByteOrderMark(line) }
            start = end.map { $0 + 1 } ?? buffer.count
            lineNumber += 1
            if !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return line }
        }
    }

    /// - Returns: where the new bytes begin.
    private mutating func fill() throws(CommandFailure) -> Int {
        buffer.removeFirst(start)
        start = 0
        let end = buffer.count
        guard end < LineInput.lineByteLimit else {
            throw mismatch ?? CommandFailure(.corruptInput, "Line \(lineNumber + 1) is longer than a fix can be.")
        }
        if let chunk = try chunks.next() { buffer += chunk } else { isAtEnd = true }
        return end
    }
}

enum TrackFile {
    /// The fixes of a file, or of stdin for "-".
    static func fixes(at path: String, _ command: ShellCommand) throws(CommandFailure) -> [Fix] {
        var fixes: [Fix] = []
        var lines = try LineInput(path: path, for: command)
        while let line = try lines.next() {
            fixes.append(try fix(fromLine: line, of: lines, defaultSequence: fixes.count, previousStep: fixes.last?.positionStep))
        }
        guard !fixes.isEmpty else { throw nothing(in: lines) }
        return fixes
    }

    static func nothing(in lines: borrowing LineInput) -> CommandFailure {
        CommandFailure(.corruptInput, "There is no fix in \(lines.path).")
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
            throw CommandFailure(.corruptInput, "\(lines.path): \(error.description.asClause)")
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
