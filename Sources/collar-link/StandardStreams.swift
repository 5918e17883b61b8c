import CLinux
import CheckedNumbers
import CollarDoctor
import CollarErrors
import CollarFormats
import CollarReceiver
import Glibc
import LinuxSystem

/// Text for people. A message for which stderr has no room is dropped, so that the program does not wait for a reader.
enum StandardError {
    // Only the main thread writes.
    private nonisolated(unsafe) static let output = NonblockingOutput(STDERR_FILENO)
    private nonisolated(unsafe) static var droppedCount = 0
    private nonisolated(unsafe) static var isStateShown = false
    /// The options that the commands in remedies repeat. They are set before the first message.
    nonisolated(unsafe) static var repeatedOptions = RepeatedOptions()
    /// The journal, if it reads stderr; else nil.
    private static let journal = JournalSocket()

    static func say(_ message: String, details: [String] = [], remedy: String? = nil, as mark: LogMark = LogMark()) {
        let remedy = remedy.map { unsafe repeatedOptions.added(to: $0) }
        if let journal {
            let lines = [message] + details + [remedy].compactMap { $0 }
            if journal.send(lines.map(PlainText.line), mark) { return }
            // The journal takes a priority at the start of a line, too.
            return put("<\(mark.level.priority)>", lines.joined(separator: " "))
        }
        put(TerminalStyle.standardError.painted("collar-link:", as: mark.level.role) + " ", message)
        for detail in details { put("  ", detail) }
        if let remedy { put("collar-link:   ", remedy) }
    }

    static func say(_ message: UserMessage, details: [String] = [], as mark: LogMark = LogMark()) {
        say(message.reason, details: details, remedy: message.remedy, as: mark)
    }

    static func say(_ told: ReportedNotice) { say(told.message, details: told.notice.details, as: told.notice.mark) }

    /// Writes what a format has left out, if that is anything.
    static func say(_ omission: Omission?) { if let omission { say(omission.message, as: LogMark(.warning, .collarLocation)) } }

    /// Shows a short state on the last line of the terminal, in the place of the one that is shown.
    /// - Parameter state: the state; nil to clear the line.
    static func show(_ state: String?) {
        guard Terminal.canMoveCursor, unsafe isStateShown || state != nil else { return }
        // To the start of the line, and clear it.
        _ = isTaken("\r\u{1B}[K" + (state ?? ""))
        unsafe isStateShown = state != nil
    }

    private static func put(_ start: String, _ text: String) {
        show(nil)
        if unsafe droppedCount > 0, unsafe isTaken("collar-link: \(droppedCount) lines are missing here: nobody read them.\n") {
            unsafe droppedCount = 0
        }
        if unsafe droppedCount > 0 || !isTaken(start + PlainText.line(text) + "\n") { unsafe droppedCount += 1 }
    }

    private static func isTaken(_ line: String) -> Bool { unsafe output.write(Array(line.utf8)[...]) > 0 }

    /// Writes a text for programs, unchanged.
    static func write(_ text: String) {
        finish()
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Waits until a terminal has accepted the last message, but only for a short time.
    static func finish() { unsafe output.drain() }
}

enum StandardOutput {
    /// Writes a text as a whole; a reader that went away is not an error.
    static func write(_ text: String) throws(CommandFailure) { try write(Array(text.utf8)) }

    /// Writes bytes as a whole; a reader that went away is not an error.
    /// - Returns: false where the reader went away.
    @discardableResult
    static func write(_ bytes: [UInt8]) throws(CommandFailure) -> Bool {
        if SystemFiles.write(bytes, to: STDOUT_FILENO) { return true }
        if errno == EPIPE { return false }
        var failure = CommandFailure(.inputOutput, "Nothing can be written to stdout: \(SystemError.text(errno)).")
        failure.isOutputLost = true
        throw failure
    }
}

/// Colours of text for people: only at a terminal, and not where `NO_COLOR` is set or `TERM` is `dumb`.
struct TerminalStyle: Sendable {
    typealias Role = Overview.TextLine.Tone

    static let standardOutput = TerminalStyle(of: STDOUT_FILENO)
    static let standardError = TerminalStyle(of: STDERR_FILENO)

    private let isColoured: Bool

    private init(of descriptor: Int32) {
        isColoured = isatty(descriptor) == 1 && (Environment.value("NO_COLOR") ?? "").isEmpty && Terminal.canMoveCursor
    }

    /// The text in the colour of its role, where the stream has colours; else the text.
    func painted(_ text: String, as role: Role?) -> String {
        guard isColoured, let role, !text.isEmpty else { return text }
        // The numbers of the escape sequence SGR.
        let codes =
            switch role {
            case .heading: "1"
            case .good: "32"
            case .warning: "33"
            case .error: "1;31"
            }
        return "\u{1B}[\(codes)m\(text)\u{1B}[0m"
    }
}

/// The terminal at stdout.
enum Terminal {
    /// Whether the terminal understands escape sequences.
    static let canMoveCursor = !["", "dumb"].contains(Environment.value("TERM") ?? "")

    static let isOutput = isatty(STDOUT_FILENO) == 1

    /// Columns and rows of the terminal; where it does not say, `COLUMNS` and `LINES`, else 80 and 24.
    static var size: (columns: Int, rows: Int) {
        var (columns, rows): (UInt16, UInt16) = (0, 0)
        if isOutput, unsafe terminal_size(STDOUT_FILENO, &columns, &rows) == 0, columns > 0, rows > 0 {
            return (Int(columns), Int(rows))
        }
        func count(_ variable: String, _ usual: Int) -> Int {
            Environment.value(variable).flatMap { Int($0, in: 1...1000) } ?? usual
        }
        return (count("COLUMNS", 80), count("LINES", 24))
    }
}

extension LogLevel {
    /// The role of a message of this level; nil for ordinary text.
    var role: TerminalStyle.Role? {
        switch self {
        case .debug, .info: nil
        case .warning: .warning
        case .error, .fault: .error
        }
    }
}
