import LinuxSystem
import RadioModems

/// How each stick is used: what a person has chosen, checked against the rules of the region.
///
/// For each option the first of these places decides that names it: the command line; in the user's file the section of the stick,
/// then the keys before the first section; the same in the machine's file. A stick has one section: the one with its serial number,
/// else with its `id-path`, else with its path.
package struct RadioConfiguration: Equatable, Sendable {
    private var general = ModemConfiguration()
    private var sticks: [StickName: ModemConfiguration] = [:]
    /// The paths of sections, in their order.
    private var paths: [String] = []

    package init() {}

    /// Combines what a person has chosen, and checks it.
    /// - Parameter files: the configuration files, the user's before the machine's.
    /// - Throws: the first rule of a region that the settings of a stick break.
    package init(commandLine: RadioOptions, files: [ConfigurationFile]) throws(ConfigurationError) {
        func modem(_ name: StickName?) throws(ConfigurationError) -> ModemConfiguration {
            var options = commandLine
            for file in files {
                if let section = file.sections.first(where: { $0.name == name }) { options = options.over(section.options) }
                options = options.over(file.general)
            }
            return try options.modem()
        }
        general = try modem(nil)
        for section in files.flatMap(\.sections) where sticks[section.name] == nil {
            sticks[section.name] = try modem(section.name)
            if case .path(let path) = section.name { paths.append(path) }
        }
    }

    /// How the stick at a port is used. What is not known of the port is nil.
    /// - Parameters:
    ///   - path: the path by which the port is opened, or `tcp://HOST:PORT`.
    ///   - idPath: the socket, as udev names it.
    package func modem(path: String, serialNumber: String?, idPath: String?, node: String?) -> ModemConfiguration {
        guard !sticks.isEmpty else { return general }
        let names = [serialNumber.map(StickName.serial), idPath.map(StickName.idPath), .port(path), .path(path)]
        for name in names { if let name, let modem = sticks[name] { return modem } }
        // The section may name a symbolic link.
        let target = paths.isEmpty ? nil : DevicePath(node ?? path)
        let linked = paths.first { DevicePath($0) == target }
        return linked.flatMap { sticks[.path($0)] } ?? general
    }
}

extension RadioOptions {
    /// The checked result of the options.
    fileprivate func modem() throws(ConfigurationError) -> ModemConfiguration {
        guard let settings else { return ModemConfiguration(dialect: dialect) }
        guard let region else { return ModemConfiguration(dialect: dialect, settings: settings) }
        do throws(RegionError) {
            return ModemConfiguration(dialect: dialect, settings: settings, limits: try region.limits(for: settings), region: region)
        } catch {
            let (option, place) = fault(error)
            throw ConfigurationError(.region(error, option: option), at: place)
        }
    }

    /// A power in dBm that every radio has, for one that only listens.
    private static let powerOfListener: Int8 = 10

    /// The settings of the radio; nil if too little is chosen. Without a region, the frequency, the bandwidth and the spreading factor
    /// must be: they decide what is received. Nothing is transmitted then.
    private var settings: RadioSettings? {
        guard let region else {
            guard let frequencyHertz, let bandwidthHertz, let spreadingFactor else { return nil }
            return RadioSettings(
                frequencyHertz: frequencyHertz, bandwidthHertz: bandwidthHertz, spreadingFactor: spreadingFactor,
                codingRateDenominator: codingRateDenominator ?? 5, powerDBm: powerDBm ?? RadioOptions.powerOfListener)
        }
        var settings = region.defaults
        if let frequencyHertz { settings.frequencyHertz = frequencyHertz }
        if let bandwidthHertz { settings.bandwidthHertz = bandwidthHertz }
        if let spreadingFactor { settings.spreadingFactor = spreadingFactor }
        if let codingRateDenominator { settings.codingRateDenominator = codingRateDenominator }
        if let powerDBm {
            settings.powerDBm = powerDBm
        } else if let band = region.band(of: settings) {
            settings.powerDBm = min(settings.powerDBm, band.maximumPowerDBm)
        }
        return settings
    }

    /// The option to which the breaking of a rule is due, and where it was chosen: the first of those that matter for the rule.
    private func fault(_ error: RegionError) -> (RadioOption, ConfigurationPlace) {
        let options: [RadioOption] =
            switch error {
            case .frequencyOutsideBands: [.frequency, .bandwidth]
            case .powerTooHigh: [.power, .frequency]
            case .framesTooLong: [.spreadingFactor, .bandwidth, .codingRate]
            }
        for option in options { if let place = places[option] { return (option, place) } }
        return (.region, places[.region] ?? .commandLine)
    }
}
