import CollarARQ
import CollarConfiguration
import CollarControl
import CollarErrors
import CollarFormats
import CollarJournal
import LinuxSystem

/// How a ``Collar`` reaches its receiver: the files, the clocks, and the control socket. A session of tests has another one, which runs a
/// simulation in virtual time.
package protocol ReceiverAccess: Sendable {
    /// The state directory of the receiver.
    /// - Throws: if it is not known.
    func stateDirectory() throws(UserFacingError) -> String
    /// The files that say which animal wears which collar, and where the places are; each overrides those after it.
    var animalPaths: [String] { get }
    var placePaths: [String] { get }
    var time: HostTime { get }
    /// Waits until a descriptor is readable, or for a time; nil for no limit. The cancellation of the task ends the wait.
    func wait(for descriptors: [Int32], until deadline: Instant?) async -> WaitResult
    /// Opens a connection to the control socket.
    /// - Throws: if no receiver runs, or if this user may not send requests.
    func connect() async throws(UserFacingError) -> any ControlLink
}

/// Why a wait has ended.
package enum WaitResult: Sendable {
    /// A descriptor is readable, the time is over, or the task is cancelled.
    case goOn
    /// Nothing will ever change again: the session of a test is over.
    case over
}

/// A connection to the control socket of a receiver.
package protocol ControlLink: AnyObject, Sendable {
    func send(_ line: [UInt8])
    /// The next line, without its line feed. The cancellation of the task ends the wait with a time-out.
    func nextLine(until deadline: Instant?) async -> ControlConnection.Reception<[UInt8]>
}

/// The receiver of this machine.
struct LocalAccess: ReceiverAccess {
    /// The directory that the program has named; nil for that of this user, or that of the service.
    let givenDirectory: String?

    func stateDirectory() throws(UserFacingError) -> String {
        if let givenDirectory { return givenDirectory }
        guard let own = StandardPaths.userStateDirectory else {
            throw UserFacingError(
                .stateUnusable, reason: "The state directory is not known: neither XDG_STATE_HOME nor HOME is set.",
                remedy: "Name it: `Collar(stateDirectory:)`.")
        }
        return StandardPaths.readableStateDirectory(own: own.path)
    }

    var animalPaths: [String] { StandardPaths.configurationFiles(named: "animals") }
    var placePaths: [String] { StandardPaths.configurationFiles(named: "places") }
    var time: HostTime { .now }

    func wait(for descriptors: [Int32], until deadline: Instant?) async -> WaitResult {
        await IOThread.shared.wait(for: descriptors, untilMicroseconds: deadline?.microseconds)
        return .goOn
    }

    func connect() async throws(UserFacingError) -> any ControlLink {
        do throws(ControlConnection.ConnectError) {
            return try LocalControlLink(stateDirectory: try stateDirectoryForControl())
        } catch { throw UserFacingError(error) }
    }

    private func stateDirectoryForControl() throws(ControlConnection.ConnectError) -> String {
        do throws(UserFacingError) { return try stateDirectory() } catch { throw .absent }
    }
}

/// A connection to the control socket of a receiver of this machine. Its lines are read on ``IOThread``.
private actor LocalControlLink: ControlLink {
    /// How long to retry while too many other programs are connecting, in microseconds.
    private static let patience: Int64 = 50_000

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe IOThread.shared.asUnownedSerialExecutor() }

    private let connection: ControlConnection
    private nonisolated let outgoing: @Sendable ([UInt8]) -> Void

    init(stateDirectory: String) throws(ControlConnection.ConnectError) {
        connection = try ControlConnection(
            stateDirectory: stateDirectory, runtimeDirectory: Environment.value("XDG_RUNTIME_DIR"), patience: LocalControlLink.patience)
        let descriptor = connection.fileDescriptor
        outgoing = { ControlConnection.send($0, to: descriptor) }
    }

    nonisolated func send(_ line: [UInt8]) { outgoing(line) }

    func nextLine(until deadline: Instant?) async -> ControlConnection.Reception<[UInt8]> {
        while true {
            if let reception = connection.receivedLine() { return reception }
            if Task.isCancelled || deadline.map({ HostTime.now.instant >= $0 }) ?? false { return .timeout }
            await IOThread.shared.wait(for: [connection.fileDescriptor], untilMicroseconds: deadline?.microseconds)
        }
    }
}

extension UserFacingError {
    init(_ error: ControlConnection.ConnectError) {
        switch error {
        case .absent, .deserted:
            self.init(.noReceiver, reason: "No collar-link runs for this state directory.", remedy: "Start one: `collar-link run`.")
        case .denied(let path):
            self.init(
                .notPermitted, reason: "The collar-link of this state directory takes no requests of this user: \(path).",
                remedy: "Run this program as the user who runs collar-link, or as root.")
        case .system(let path, let errorNumber):
            self.init(.controlFailing, reason: "\(path) cannot be reached: \(SystemError.text(errorNumber)).")
        }
    }
}
