import CollarConfiguration
import LinuxSystem

extension RadioOption {
    var spec: OptionSpec {
        let (value, summary) =
            switch self {
            case .dialect: ("kiss|rnode|rui3|serial", "protocol of the stick's firmware (default: detect it)")
            case .region:
                ("NAME", "radio rules to obey: \(wanted) (default: none, and a LoRa stick does not transmit)")
            case .frequency: ("MHZ", "carrier frequency in MHz, 137 to 1020 (default: the region's)")
            case .bandwidth: ("KHZ", "LoRa bandwidth in kHz, 7.8 to 500 (default: the region's, 125)")
            case .spreadingFactor: ("N", "LoRa spreading factor, 5 to 12 (default: the region's, 8 or 9)")
            case .codingRate: ("4/N", "LoRa coding rate, 4/5 to 4/8 (default 4/5)")
            case .power: ("DBM", "transmit power at the antenna's socket in dBm, -9 to 30 (default: the region's)")
            }
        return OptionSpec("--\(rawValue)", value: value, words: words, is: summary)
    }
}

extension ParsedArguments {
    /// How sticks are used: the options of the command line, before the configuration files.
    func radio() throws(CommandFailure) -> RadioConfiguration {
        var contents: [(path: String, bytes: [UInt8])] = []
        for path in StandardPaths.configurationFiles(named: "config") {
            if let bytes = try ConfigurationFiles.content(of: path) { contents.append((path, bytes)) }
        }
        do throws(ConfigurationError) {
            var options = RadioOptions()
            for option in RadioOption.allCases {
                if let text = value("--\(option.rawValue)") { try options.set(option, to: text, at: .commandLine) }
            }
            var files: [ConfigurationFile] = []
            for content in contents { files.append(try ConfigurationFile(content.bytes, path: content.path)) }
            return try RadioConfiguration(commandLine: options, files: files)
        } catch { throw CommandFailure(error.exitCode, error.message) }
    }
}

enum ConfigurationFiles {
    /// The content of a file; nil if there is none. A file above ``ConfigurationFile/byteLimit`` is not read to its end.
    static func content(of path: String) throws(CommandFailure) -> [UInt8]? {
        if FileSignature(path: path) == nil { return nil }
        do throws(CommandFailure) {
            var input = try ChunkInput(path: path)
            var content: [UInt8] = []
            while content.count <= ConfigurationFile.byteLimit, let chunk = try input.next() { content += chunk }
            return content
        } catch {
            throw CommandFailure(
                error.code == .noPermission ? .noPermission : .configuration, error.message,
                remedy: "Let this user read the file, or remove it: the options of `collar-link run` choose the same.")
        }
    }
}
