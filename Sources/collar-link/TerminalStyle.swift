import CLinux
import CheckedNumbers
import CollarErrors
import CollarReceiver
import Glibc

/// Colours of text for people: only at a terminal, and not where `NO_COLOR` is set or `TERM` is `dumb`.
struct TerminalStyle: Sendable {
    /// The meaning of a text, which decides its colour.
    enum Role: Sendable {
        case heading, good, warning, error

        /// The numbers of the escape sequence SGR.
        fileprivate var codes: String {
            switch self {
            case .heading: "1"
            case .good: "32"
            case .warning: "33"
            case .error: "1;31"
            }
        }
    }

    /// The style of stdout.
    static let standardOutput = TerminalStyle(of: STDOUT_FILENO)
    /// The style of stderr.
    static let standardError = TerminalStyle(of: STDERR_FILENO)

    private let isColoured: Bool

    private init(of descriptor: Int32) {
        isColoured = isatty(descriptor) == 1 && (Environment.value("NO_COLOR") ?? "").isEmpty && Terminal.canMoveCursor
    }

    /// The text in the colour of its role, where the stream has colours; else the text.
    func painted(_ text: String, as role: Role?) -> String {
        guard isColoured, let role, !text.isEmpty else { return text }
        return "\u{1B}[\(role.codes)m\(text)\u{1B}[0m"
    }
}

/// The terminal at stdout.
enum Terminal {
    /// Whether the terminal understands escape sequences.
    static let canMoveCursor = !["", "dumb"].contains(Environment.value("TERM") ?? "")

    /// Whether stdout is a terminal.
    static let isOutput = isatty(STDOUT_FILENO) == 1

    /// Columns of the terminal; where it does not say, `COLUMNS`, else 80.
    static var width: Int { size.columns }

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
