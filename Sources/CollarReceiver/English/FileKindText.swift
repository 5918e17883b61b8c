import CollarErrors

extension FileKind {
    /// What a command reads.
    package enum Use: Sendable {
        /// Fixes as lines of JSON.
        case lines
        /// Frames of a serial line or bare ones, or a capture.
        case frames(isBare: Bool)
        /// A capture.
        case capture
    }

    /// That a file is of this kind and not of the wanted one, and what helps; nil if it is of the wanted kind.
    /// - Parameters:
    ///   - path: the file, or `stdin`.
    ///   - use: what the command expects of the file.
    ///   - command: the command that reads it, as it reads stdin.
    package func mismatch(path: String, _ use: Use, _ command: ShellCommand) -> UserMessage? {
        func mismatch(_ remedy: String) -> UserMessage { UserMessage(nil, "\(path): this is \(text), not \(use.text)", remedy) }
        let file = path == "stdin" ? "FILE" : path
        func piped(_ filter: [String], to command: ShellCommand) -> String {
            "`\(ShellCommand(words: filter + [file]).piped(to: command).text)`"
        }
        func converted(_ filter: String...) -> UserMessage { mismatch("Run \(piped(filter, to: command)).") }
        return switch (self, use) {
        case (.jsonLines, .lines), (.capture, .frames), (.capture, .capture): nil
        case (.frames(let isBare), .frames(let areBareWanted)):
            isBare == areBareWanted ? nil : mismatch(isBare ? "Give `--bare`." : "Leave out `--bare`.")
        case (.compressed(let unpacker), .lines): converted(unpacker)
        case (.compressed(let unpacker), .frames(let isBare)):
            mismatch(
                "If frames or a capture are in it: \(piped([unpacker], to: command)). If lines of JSON are: "
                    + "\(piped([unpacker], to: ShellCommand(words: FileKind.encoder(isBare: isBare)).piped(to: command))).")
        case (.compressed(let unpacker), .capture):
            mismatch(
                "If a capture is in it: \(piped([unpacker], to: command)). If lines of JSON are, they are a track: "
                    + "\(piped([unpacker], to: ShellCommand("collar-link", "simulate", "--track", "-"))).")
        case (.utf16(let name), .lines): converted("iconv", "-f", name, "-t", "UTF-8")
        case (.jsonObject, .lines): converted("jq", "-c", ".")
        case (.jsonArray, .lines): converted("jq", "-c", ".[]")
        case (.capture, .lines), (.frames(isBare: false), .lines): converted("collar-link", "decode")
        case (.frames(isBare: true), .lines): converted("collar-link", "decode", "--bare")
        case (_, .lines):
            mismatch(#"Each fix is a line, at least: {"ts_unix_ms":1498266133000,"lat":50.17028,"lon":-5.11399}."#)
        case (.jsonLines, .frames(let isBare)): mismatch("Run \(piped(FileKind.encoder(isBare: isBare), to: command)).")
        case (_, .frames): mismatch("Name the bytes of a serial line, or a file that `--write` has made.")
        case (.jsonLines, .capture):
            mismatch("Lines of JSON are a track: `\(ShellCommand("collar-link", "simulate", "--track", file).text)` plays it.")
        case (.frames(let isBare), .capture):
            mismatch("Print the fixes in it: `\(ShellCommand(words: ["collar-link", "decode"] + (isBare ? ["--bare"] : []) + [file]).text)`.")
        case (_, .capture): mismatch("Name a file that `--write` has made.")
        }
    }

    /// The command that makes frames of lines of JSON.
    private static func encoder(isBare: Bool) -> [String] { ["collar-link", "encode"] + (isBare ? ["--bare"] : []) }

    private var text: String {
        switch self {
        case .compressed: "compressed"
        case .utf16: "text in UTF-16"
        case .capture: "a capture"
        case .frames(let isBare): isBare ? "bare frames" : "frames of a serial line"
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
        case .frames(isBare: false): "frames of the Collar Link Protocol"
        case .frames(isBare: true): "bare frames of the Collar Link Protocol"
        case .capture: "a capture"
        }
    }
}
