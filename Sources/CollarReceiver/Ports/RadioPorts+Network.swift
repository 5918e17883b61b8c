import CollarHost
import CollarJournal
import LinuxSystem

/// Radios at other machines.
extension RadioPorts {
    /// A connection that ends within this time, in microseconds, and carries nothing, counts as a failed attempt.
    private static let shortestConnection: Int64 = 10_000_000

    /// Begins to connect to the machine of a radio.
    func connect(_ port: RadioPort, attempt: Int, at time: HostTime) {
        guard let address = port.networkAddress else { return }
        port.connectionAttemptCount = attempt
        do throws(ConnectionAttempt.Failure) {
            let connecting = try ConnectionAttempt(to: address)
            port.state = .connecting(connecting)
            events.watch(connecting.fileDescriptor, as: .port(port.id))
        } catch { connectionFailed(port, error, at: time) }
    }

    /// An attempt to connect has ended.
    func finish(_ attempt: ConnectionAttempt, of port: RadioPort, at time: HostTime) throws(ReceiverError) {
        stopWaiting(port)
        do throws(ConnectionAttempt.Failure) {
            let connection = try attempt.finish()
            port.lastConnectionFailure = nil
            port.connectedAt = time.instant
            opened(port, connection, at: time)
        } catch {
            guard configuration.reconnects else { throw .connection(path: port.path, reason: error.text) }
            connectionFailed(port, error, at: time)
        }
    }

    /// Arranges the next attempt after the end of a connection. A machine that closes every connection at once is called less and
    /// less often, and that is reported once.
    func reconnect(_ port: RadioPort, at time: HostTime) {
        let wasShort = port.connectedAt.map { time.instant.microseconds(since: $0) < RadioPorts.shortestConnection } ?? false
        port.isOpeningUnreported = wasShort
        retry(port, after: wasShort ? port.connectionAttemptCount : 0, at: time)
    }

    /// The first bytes have come in on a connection.
    func noteFirstBytes(of port: RadioPort) {
        port.connectedAt = nil
        guard port.isOpeningUnreported else { return }
        port.isOpeningUnreported = false
        report(.opened(path: port.path))
    }

    private func connectionFailed(_ port: RadioPort, _ failure: ConnectionAttempt.Failure, at time: HostTime) {
        if port.lastConnectionFailure != failure {
            port.lastConnectionFailure = failure
            report(.cannotConnect(path: port.path, reason: failure.text))
        }
        retry(port, after: port.connectionAttemptCount, at: time)
    }
}
