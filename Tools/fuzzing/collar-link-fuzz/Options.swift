import Foundation

/// The options of the command line.
struct Options {
    /// The action of the command.
    enum Action {
        case fuzz
        case list
        case shortTags
        case replay(file: String)
        case help
    }

    var action = Action.fuzz
    /// Time for all targets together; nil if no time is given.
    var seconds: Double?
    /// Executions of all targets together; nil if time is the limit.
    var executions: UInt64?
    var seed: UInt64 = 1
    var usesLibFuzzer = false
    var corpus: String?
    var findings: String?
    /// Names of targets; empty for all targets.
    var targets: [String] = []

    /// The reason why a command line is wrong.
    struct Wrong: Error {
        let reason: String
    }

    init(_ arguments: [String]) throws(Wrong) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--seconds":
                let seconds = Double(try Options.value(argument, &rest))
                guard let seconds, seconds > 0, seconds < 1e8 else {
                    throw Wrong(reason: "--seconds takes a number above 0")
                }
                self.seconds = seconds
            case "--executions": executions = try Options.number(argument, &rest)
            case "--seed": seed = try Options.number(argument, &rest)
            case "--corpus": corpus = try Options.value(argument, &rest)
            case "--findings": findings = try Options.value(argument, &rest)
            case "--replay": action = .replay(file: try Options.value(argument, &rest))
            case "--list": action = .list
            case "--short-tags": action = .shortTags
            case "-h", "--help": action = .help
            case "--libfuzzer": usesLibFuzzer = true
            default:
                guard !argument.hasPrefix("-") else { throw Wrong(reason: "unknown option \(argument)") }
                targets.append(argument)
            }
        }
        guard seconds == nil || executions == nil else { throw Wrong(reason: "either --seconds or --executions") }
        if case .shortTags = action {
            guard seconds == nil, targets.isEmpty else {
                throw Wrong(reason: "--short-tags takes no targets, and --executions as its limit")
            }
        }
    }

    private static func value(_ option: String, _ rest: inout ArraySlice<String>) throws(Wrong) -> String {
        guard let value = rest.popFirst() else { throw Wrong(reason: "\(option) needs a value") }
        return value
    }

    private static func number(_ option: String, _ rest: inout ArraySlice<String>) throws(Wrong) -> UInt64 {
        guard let number = UInt64(try value(option, &rest)) else {
            throw Wrong(reason: "\(option) takes a whole number")
        }
        return number
    }

    static let usage = """
        Tools/fuzz [--seconds N | --executions N] [TARGET…]    give the codec mutations of the vectors, and forged sealed
                                                               frames (default: 60 s)
          --seed N          other mutations; the same seed makes the same ones (default 1)
          --libfuzzer       mutate by libFuzzer, under the address sanitizer, instead
          --corpus DIR      start from these too: vectors or findings (*.json), and inputs as they are in DIR/TARGET,
                            where libFuzzer also keeps what it learns
          --findings DIR    where findings go (default: .fuzz-findings)
        Tools/fuzz --replay FILE [TARGET]                      run one finding, or one vector, again
        Tools/fuzz --short-tags [--executions N] [--seed N]    count the frames with random tags that open if 12 bits of a
                                                               tag are compared (default: 12,000,000 tries)
        Tools/fuzz --list                                      the targets

        Exit: 0 nothing found, 1 something found, 64 a command line that is wrong, 70 it could not run.
        """
}
