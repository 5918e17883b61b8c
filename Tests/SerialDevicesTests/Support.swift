import CollarPorts
import Glibc
import LinuxSystem
import SerialDevices
import Testing

/// Reads until `count` bytes have come. A kernel thread passes the bytes of a pseudo-terminal on, so the first read may come
/// too early. The function waits for up to 5 s, which no working machine needs.
func received(_ count: Int, read: (inout [UInt8]) -> ReadResult) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<5_000 {
        var buffer = [UInt8](repeating: 0, count: 512)
        switch read(&buffer) {
        case .bytes(let more): bytes += buffer.prefix(more)
        case .wouldBlock: usleep(1_000)
        case .disconnected: throw ReadingEnded()
        }
        if bytes.count >= count { return bytes }
    }
    return bytes
}

/// The other end went away before all bytes had come.
struct ReadingEnded: Error {}

/// Opens a terminal like a program that knows nothing about serial ports.
func openedPlainly(_ path: String) throws -> Int32 {
    let descriptor = unsafe open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    try #require(descriptor >= 0)
    return descriptor
}

func closePlainly(_ descriptor: Int32) { _ = close(descriptor) }

func readPlainly(_ descriptor: Int32, _ buffer: inout [UInt8]) -> ReadResult {
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    if count > 0 { return .bytes(count) }
    return count < 0 && errno == EAGAIN ? .wouldBlock : .disconnected
}

/// A directory for one test, removed with its contents when the object is released.
final class TemporaryDirectory {
    let path: String

    init() throws {
        var template = Array("/tmp/serial-devices-XXXXXX".utf8CString)
        try #require(unsafe mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { _ = try? run(["rm", "-rf", path]) }

    func file(_ name: String) throws -> String {
        let descriptor = unsafe open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        try #require(descriptor >= 0)
        _ = close(descriptor)
        return "\(path)/\(name)"
    }

    func folder(_ name: String) throws {
        try #require(unsafe mkdir("\(path)/\(name)", 0o755) == 0)
    }

    func link(_ name: String, to target: String) throws {
        try #require(unsafe symlink(target, "\(path)/\(name)") == 0)
    }

    func move(_ name: String, to other: String) throws {
        try #require(unsafe rename("\(path)/\(name)", "\(path)/\(other)") == 0)
    }
}

/// The start of a text file, up to 64 KiB.
func contents(of path: String) throws -> String {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { _ = close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
}

/// Runs a program, writes everything that it prints to the file `output`, and returns its exit status.
@discardableResult
func run(_ arguments: [String], output: String = "/dev/null") throws -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    var vector = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe vector.indices { unsafe free(vector[index]) } }
    var process: pid_t = 0
    let failure = unsafe posix_spawnp(&process, arguments[0], &actions, nil, &vector, environ)
    try #require(failure == 0)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 { try #require(errno == EINTR) }
    return status == 0 ? 0 : max(1, status >> 8)
}

/// Tests a condition again for up to two seconds. A process that another test forks holds the descriptors of this process until
/// it executes another program, and may be found first.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<100 {
        if condition() { return true }
        usleep(20_000)
    }
    return false
}

/// The holder that is named when a busy port is opened; nil if the port is not busy or no holder is named.
func holderNamed(onOpening path: String) -> ProcessHolder? {
    do throws(SerialPortError) {
        try SerialPort(opening: path).close()
        return nil
    } catch {
        if case .busy(_, let holder) = error { return holder }
        return nil
    }
}
