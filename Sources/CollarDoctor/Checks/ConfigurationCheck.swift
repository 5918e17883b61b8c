import CollarConfiguration
import RadioModems
import SerialDevices

/// Whether the configuration files and the options of the command line make sense, and give each stick the region that it needs.
package enum ConfigurationCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let configuration: RadioConfiguration
        do throws(ConfigurationError) { configuration = try self.configuration(examination.machine) } catch {
            return [.wrongConfiguration(error)]
        }
        let memory = StickMemory.dialects(in: examination.machine.contentText(of: "\(examination.stateDirectory)/sticks") ?? "")
        return examination.ports.compactMap { port in
            let modem = configuration.modem(
            path: port.path, serialNumber: port.device?.serialShort, idPath: port.device?.idPath, node: port.device?.node)
            let remembered = port.device?.stickName.flatMap { name in memory.last { $0.stick == name }?.dialect }
            guard modem.limits == nil, let dialect = modem.dialect ?? remembered, dialect != .serial else { return nil }
            let files = examination.machine.lines(of: .configurationFiles)
            return .noRegion(
                port.path, dialect, file: files.first,
                isFileThere: files.first.map { examination.machine.content(of: $0) != .absent } ?? false,
                evidence: [
                    Finding.Evidence(
                        modem.dialect == nil ? "\(examination.stateDirectory)/sticks" : "configuration", dialect.rawValue),
                    Finding.Evidence("configuration files", files.isEmpty ? "none" : files.joined(separator: " ")),
                ])
        }
    }

    private static func configuration(_ machine: any MachineFacts) throws(ConfigurationError) -> RadioConfiguration {
        var options = RadioOptions()
        for line in machine.lines(of: .radioOptions) {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count == 2, let option = RadioOption(rawValue: words[0]) else { continue }
            try options.set(option, to: words[1], at: .commandLine)
        }
        var files: [ConfigurationFile] = []
        for path in machine.lines(of: .configurationFiles) {
            guard case .bytes(let bytes) = machine.content(of: path) else { continue }
            files.append(try ConfigurationFile(bytes, path: path))
        }
        return try RadioConfiguration(commandLine: options, files: files)
    }
}
