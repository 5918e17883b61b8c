import CollarErrors
import RadioModems

/// An error in the options of the command line or in a configuration file.
package struct ConfigurationError: Error, Equatable, Sendable {
    /// A kind of error.
    package enum Problem: Equatable, Sendable {
        /// The line is not UTF-8.
        case notText
        /// The line is neither `key = value`, nor a section, nor a comment.
        case notAnAssignment(String)
        /// There is no such key.
        case unknownKey(String)
        /// The key has a value already, from line `line`.
        case repeatedKey(String, line: Int)
        /// There is no such section.
        case unknownSection(String)
        /// The section is there already, at line `line`.
        case repeatedSection(String, line: Int)
        /// The text is no value of the option.
        case wrongValue(RadioOption, text: String)
        /// The settings of a stick break a rule of its region. `option` is the one at fault.
        case region(RegionError, option: RadioOption)
        /// The file has more bytes than are read.
        case tooLong(byteLimit: Int)
    }

    /// The kind of the error.
    package let problem: Problem
    /// The option or the line with the error.
    package let place: ConfigurationPlace

    package init(_ problem: Problem, at place: ConfigurationPlace) {
        self.problem = problem
        self.place = place
    }

    /// The exit code of a command that ends because of the error.
    package var exitCode: ExitCode {
        switch place {
        case .commandLine: .usage
        case .file: .configuration
        }
    }
}
