import FoundationEssentials
import Glibc
import Testing

@testable import CollarControl

/// The places of a control socket in folders of its own, and the end of a connection that a receiver has.
final class ControlSocketBench {
    let folder: String
    private var descriptors: [Int32] = []

    /// The deadline for a line that is there already. Only a failing test waits until then.
    static var farAway: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec + 5) * 1_000_000
    }

    init() throws {
        // The path of a socket has at most 107 bytes.
        folder = "/tmp/collar-\(UUID().uuidString)"
        for path in [folder, stateDirectory, runtimeDirectory] { try #require(unsafe mkdir(path, 0o700) == 0) }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
        for place in places { _ = unsafe unlink(place.path) }
        for path in ["\(runtimeDirectory)/collar-link", runtimeDirectory, stateDirectory, folder] { _ = unsafe rmdir(path) }
    }

    var stateDirectory: String { folder + "/state" }
    var runtimeDirectory: String { folder + "/run" }

    /// The first is in the runtime directory, the last in the state directory.
    var places: [ControlPlace] { ControlPlace.all(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory) }

    func path(inState: Bool) throws -> String {
        let place = try #require(inState ? places.last : places.first)
        try #require(place.prepare())
        return place.path
    }

    /// A receiver listens at a path.
    func listen(at path: String, backlog: Int32 = 8) throws -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < 108)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(listener >= 0)
        descriptors.append(listener)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        try #require(Glibc.listen(listener, backlog) == 0)
        return listener
    }

    /// A receiver that was killed has left its socket file.
    func desert(_ path: String) throws {
        closeNow(try listen(at: path))
    }

    /// The end that the receiver has of the next connection.
    func accept(_ listener: Int32) throws -> Int32 {
        let descriptor = Glibc.accept(listener, nil, nil)
        try #require(descriptor >= 0)
        descriptors.append(descriptor)
        return descriptor
    }

    func closeNow(_ descriptor: Int32) {
        descriptors.removeAll { $0 == descriptor }
        close(descriptor)
    }

    func connect() throws(ControlConnection.ConnectError) -> ControlConnection {
        try ControlConnection(stateDirectory: stateDirectory, runtimeDirectory: runtimeDirectory, patience: 0)
    }

    /// A connection to a receiver, and the receiver's end of it.
    func connected() throws -> (connection: ControlConnection, receiver: Int32) {
        let listener = try listen(at: try path(inState: true))
        let connection = try connect()
        return (connection, try accept(listener))
    }

    func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        try #require(count == bytes.count)
    }

    func write(_ text: String, to descriptor: Int32) throws { try write(Array(text.utf8), to: descriptor) }

    /// What has come at the receiver's end.
    func read(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
