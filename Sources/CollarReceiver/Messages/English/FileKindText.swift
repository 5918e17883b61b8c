extension FileKind {
    /// What a command reads.
    public enum Use: Sendable {
        /// Fixes as lines of JSON.
        case lines
        /// Frames, or a capture.
        case frames
        /// A capture.
        case capture
    }

    /// That a file is of this kind and not of the wanted one, and what helps; nil if it is of the wanted kind.
    /// - Parameters:
    ///   - path: the file, or `stdin`.
    ///   - use: what the command expects of the file.
    ///   - command: the command that reads it, as it reads stdin.
    public func mismatch(path: String, _ use: Use, _ command: ShellCommand) -> UserMessage? {
        func mismatch(_ remedy: String) -> UserMessage { UserMessage(nil, "\(path): this is \(text), not \(use.text)", remedy) }
        func converted(_ filter: String...) -> UserMessage {
            mismatch("Run `\(ShellCommand(words: filter + [path == "stdin" ? "FILE" : path]).piped(to: command).text)`.")
        }
        return switch (self, use) {
        case (.jsonLines, .lines), (.capture, .frames), (.capture, .capture): nil
        case (.compressed(let unpacker), _): converted(unpacker)
        case (.utf16, _): converted("iconv", "-f", "UTF-16", "-t", "UTF-8")
        case (.jsonObject, .lines): converted("jq", "-c", ".")
        case (.jsonArray, .lines): converted("jq", "-c", ".[]")
        case (.capture, .lines): mismatch("`collar-link decode FILE` prints the fixes in a capture.")
        case (_, .lines):
            mismatch(#"Each fix is a line, at least: {"ts_unix_ms":1498266133000,"lat":50.17028,"lon":-5.11399}."#)
        case (.jsonLines, .frames): mismatch("`collar-link encode FILE` makes frames from lines.")
        case (_, .frames): mismatch("Name the bytes of a serial line, or a file that `--write` has made.")
        case (_, .capture): mismatch("Name a file that `--write` has made.")
        }
    }

    private var text: String {
        switch self {
        case .compressed: "compressed"
        case .utf16: "text in UTF-16"
        case .capture: "a capture"
        case .xml: "XML, such as GPX"
        case .nmea: "NMEA"
        case .csv: "a table (CSV)"
        case .jsonLines: "lines of JSON"
        case .jsonObject: "JSON over several lines"
        case .jsonArray: "an array of JSON"
        }
    }
}

extension FileKind.Use {
    fileprivate var text: String {
        switch self {
        case .lines: "fixes as lines of JSON"
        case .frames: "frames of the Collar Link Protocol"
        case .capture: "a capture"
        }
    }
}
