// Prints the fixes of a state directory, from the position of a reader on, as a Swift program gets them: `collar-link-reader STATE-DIR
// NAME [PAUSE]`. It waits PAUSE milliseconds after each, and goes on after an error.
import CollarLink
import Glibc

func say(_ words: Any...) {
    let line = Array((words.map { "\($0)" }.joined(separator: " ") + "\n").utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(64) }
let pause = arguments.count > 3 ? Int64(arguments[3]) ?? 0 : 0
let stream = Collar(stateDirectory: arguments[1]).fixes(.everything(as: arguments[2]))
while true {
    do {
        for try await fix in stream {
            say("fix", fix.id, fix.sequence)
            if pause > 0 { try await Task.sleep(for: .milliseconds(pause)) }
        }
        break
    } catch let error as UserFacingError {
        say("error", error.code.rawValue)
        try await Task.sleep(for: .milliseconds(300))
    }
}
