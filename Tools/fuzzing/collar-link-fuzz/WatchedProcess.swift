import Foundation
import FuzzCore

/// A process that may crash or hang, and whose record is watched.
struct WatchedProcess {
    let executable: String
    let arguments: [String]
    /// Variables that are added to the environment.
    let environment: [String: String]
    let record: SharedRecord
    /// A folder for the output of the process.
    let folder: String

    /// The end of the process.
    enum End {
        case finished
        /// It reported a problem, crashed or hung, as the text says.
        case found(String)
        /// It ended before its first input; the text has the reason.
        case unable(String)
    }

    /// The longest time that an execution may take, in seconds of processor time.
    private static let patience = 2.0
    /// The same by the clock, for an execution that waits for something; also the longest time until the first execution.
    private static let longPatience = 60.0
    /// The value in the record before the first execution.
    static let notBegun = UInt64.max

    func run() throws -> End {
        record.execution = WatchedProcess.notBegun
        record.message = ""
        let log = "\(folder)/stderr"
        try Data().write(to: URL(fileURLWithPath: log))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        // The backtracer can hang, and it delays every crash.
        process.environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        try process.run()
        let isHanging = watch(process)
        let words = String(decoding: (try? Data(contentsOf: URL(fileURLWithPath: log))) ?? Data(), as: UTF8.self)
        if isHanging { return .found("no end after \(Int(WatchedProcess.patience)) s") }
        if process.terminationReason == .exit, process.terminationStatus == 0 { return .finished }
        let end = "\(process.terminationReason == .exit ? "exit code" : "signal") \(process.terminationStatus)"
        guard record.execution != WatchedProcess.notBegun else {
            return .unable("ended before its first input (\(end)) \(words)")
        }
        if !record.message.isEmpty { return .found(record.message) }
        return .found("a crash (\(end))\(WatchedProcess.reason(in: words))")
    }

    /// Waits for the end.
    /// - Returns: whether it hung and was killed.
    private func watch(_ process: Process) -> Bool {
        var last = record.execution
        var lastMove = ContinuousClock.now
        var processorTime = 0.0
        while process.isRunning {
            Thread.sleep(forTimeInterval: 0.01)
            let execution = record.execution
            let idle = ContinuousClock.now - lastMove
            if execution != last || idle < .milliseconds(200) {
                if execution != last { lastMove = ContinuousClock.now }
                last = execution
                processorTime = WatchedProcess.processorSeconds(of: process.processIdentifier)
                continue
            }
            let hasBegun = execution != WatchedProcess.notBegun
            let worked = WatchedProcess.processorSeconds(of: process.processIdentifier) - processorTime
            if hasBegun && worked > WatchedProcess.patience || idle > .seconds(WatchedProcess.longPatience) {
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
                return true
            }
        }
        process.waitUntilExit()
        return false
    }

    /// Processor time that a process has used: fields 14 and 15 of its stat, in hundredths of a second.
    private static func processorSeconds(of process: Int32) -> Double {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = text.lastIndex(of: ")")
        else { return 0 }
        let fields = text[end...].split(separator: " ")
        guard fields.count > 13 else { return 0 }
        return ((Double(fields[12]) ?? 0) + (Double(fields[13]) ?? 0)) / 100
    }

    /// The reason that a crashed process printed.
    private static func reason(in words: String) -> String {
        let lines = words.split(separator: "\n")
        let line = lines.first { $0.contains("Fatal error") } ?? lines.first { $0.contains("SUMMARY:") }
        return line.map { ": \($0)" } ?? ""
    }
}
