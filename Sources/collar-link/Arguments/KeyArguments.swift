import CollarJournal
import CollarReceiver
import CollarWire

extension ParsedArguments {
    /// The key in the file of `--key-file`; nil if the option is absent.
    func key() throws(CommandFailure) -> CollarKey? {
        guard let path = value("--key-file") else { return nil }
        return try CollarKey(fileAt: path)
    }
}

extension CollarKey {
    /// A random key.
    static func random(using random: inout some RandomNumberGenerator) -> CollarKey {
        let bytes = (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return CollarKey(bytes.span)
    }

    /// Reads a key: a line of 32 hexadecimal digits. "-" is stdin.
    init(fileAt path: String) throws(CommandFailure) {
        var lines = try LineInput(path: path)
        let line = try lines.next() ?? []
        guard let key = CollarKey(hexadecimal: String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }) else {
            throw CommandFailure(
                .corruptInput, "\(path == "-" ? "stdin" : path), line \(max(1, lines.lineNumber)): expected 32 hexadecimal digits",
                remedy: "`collar-link key add ID` without FILE makes a key and prints it so.")
        }
        self = key
    }
}
