import CollarErrors
import RadioModems

/// An error in the options of the command line or in a configuration file.
package struct ConfigurationError: Error, Equatable, Sendable {
    package enum Problem: Equatable, Sendable {
        /// The line is not UTF-8.
        case notText
        /// The line is neither `key = value`, nor a section, nor a comment.
        case notAnAssignment(String)
        case unknownKey(String)
        case repeatedKey(String, line: Int)
        case unknownSection(String)
        case repeatedSection(String, line: Int)
        case wrongValue(RadioOption, text: String)
        /// The settings of a stick break a rule of its region. `option` is the one at fault.
        case region(RegionError, option: RadioOption)
        case tooLong(byteLimit: Int)
    }

    package let problem: Problem
    /// The option or the line with the error.
    package let place: ConfigurationPlace

    package init(_ problem: Problem, at place: ConfigurationPlace) {
        self.problem = problem
        self.place = place
    }

    package var exitCode: ExitCode {
        switch place {
        case .commandLine: .usage
        case .file: .configuration
        }
    }
}

extension ConfigurationError: MessageError {
    package var message: UserMessage {
        switch place {
        case .commandLine: UserMessage(nil, problem.text(isOption: true))
        case .file(let path, let line): UserMessage(nil, "\(path), line \(line): \(problem.text(isOption: false).asClause)")
        }
    }
}

extension ConfigurationError.Problem {
    /// - Parameter isOption: whether the names of options are those of the command line.
    fileprivate func text(isOption: Bool) -> String {
        func name(_ option: RadioOption) -> String { isOption ? "`--\(option.rawValue)`" : option.rawValue }
        return switch self {
        case .notText: "The line is not UTF-8."
        case .notAnAssignment(let line): "'\(line)' is neither 'key = value' nor \(StickName.forms)."
        case .unknownKey(let key):
            "There is no key '\(key)'; keys are: \(RadioOption.allCases.map(\.rawValue).joined(separator: ", "))."
                + Suggestion.text(for: key, among: RadioOption.allCases.map(\.rawValue))
        case .repeatedKey(let key, let line): "\(key) has a value already, from line \(line)."
        case .unknownSection(let section): "'\(section)' is not a section: a section is \(StickName.forms)."
        case .repeatedSection(let section, let line): "\(section) is there already, at line \(line)."
        case .wrongValue(let option, let text):
            "\(name(option)) takes \(option.wanted), not '\(text)'." + Suggestion.text(for: text, among: option.words)
        case .region(let error, let option): "\(name(option)) breaks a rule of the region: \(error.text)."
        case .tooLong(let byteLimit): "The file has more than \(byteLimit) bytes."
        }
    }
}

extension RegionError {
    fileprivate var text: String {
        switch self {
        case .frequencyOutsideBands(let region, let settings):
            let bands = region.bands.map { "\(RadioText.megahertz($0.lowerHertz))–\(RadioText.megahertz($0.upperHertz))" }
            return "\(region.name) has no room for a channel of \(RadioText.kilohertz(settings.bandwidthHertz)) kHz at "
                + "\(RadioText.megahertz(settings.frequencyHertz)) MHz; the whole channel must be within "
                + "\(bands.joined(separator: ", ")) MHz"
        case .powerTooHigh(let region, let settings, let maximumDBm):
            return "\(region.name) allows at most \(maximumDBm) dBm at \(RadioText.megahertz(settings.frequencyHertz)) MHz, and "
                + "this is \(settings.powerDBm)"
        case .framesTooLong(let region, let settings, let airtime, let limit):
            return "\(region.name) allows \(RadioText.milliseconds(limit)) ms for a frame, and with spreading factor "
                + "\(settings.spreadingFactor), \(RadioText.kilohertz(settings.bandwidthHertz)) kHz and 4/"
                + "\(settings.codingRateDenominator) a frame of \(Region.neededFrameByteCount) bytes takes "
                + "\(RadioText.milliseconds(airtime)) ms; choose a lower spreading factor or a larger bandwidth"
        }
    }
}
