import Foundation
import FuzzCore

/// The command behind Tools/fuzz.
@main struct Main {
    private static let commandLineIsWrong: Int32 = 64
    private static let couldNotRun: Int32 = 70

    static func main() {
        // Writing to a pipe whose other end is closed must fail with an error, not end the program.
        _ = signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            if let first = arguments.first, WorkerCommand.names.contains(first) {
                exit(try WorkerCommand(arguments).run())
            }
            exit(try FuzzCommand(options: Options(arguments)).run() ? 1 : 0)
        } catch let wrong as Options.Wrong {
            say(wrong.reason)
            say("Tools/fuzz --help tells the options, --list the targets")
            exit(commandLineIsWrong)
        } catch {
            say("\(error)")
            exit(couldNotRun)
        }
    }

    static func say(_ words: String) { FileHandle.standardError.write(Data("fuzz: \(words)\n".utf8)) }
}

/// The checkout and the targets of the program.
enum Surroundings {
    /// The checkout.
    static var root: String {
        ProcessInfo.processInfo.environment["COLLAR_LINK_FUZZ_ROOT"] ?? FileManager.default.currentDirectoryPath
    }

    /// All targets, in the order in which they run.
    static var targets: [any FuzzTarget] { portableTargets() + [DifferentialTarget(root: root)] }

    static func target(named name: String) throws(Options.Wrong) -> any FuzzTarget {
        guard let target = targets.first(where: { $0.name == name }) else {
            throw Options.Wrong(reason: "there is no target '\(name)'")
        }
        return target
    }
}
