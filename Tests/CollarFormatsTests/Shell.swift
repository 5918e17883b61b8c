import Glibc

/// The standard output of a shell command; nil if the command cannot be started or fails.
func shellOutput(_ command: String) -> [UInt8]? {
    guard let stream = unsafe popen(command, "r") else { return nil }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe fread(&chunk, 1, chunk.count, stream)
        guard count > 0 else { break }
        output += chunk[..<count]
    }
    return unsafe pclose(stream) == 0 ? output : nil
}
