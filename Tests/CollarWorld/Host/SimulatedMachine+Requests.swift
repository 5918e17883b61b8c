import CollarARQ
import CollarHost
import CollarJournal
import CollarWire

/// Requests of users to a machine's process, and what the process knows of collars.
extension SimulatedMachine {
    /// A user submits a request.
    /// - Returns: its id; nil if the request is not accepted.
    func submit(_ request: HostRequest, to deviceID: DeviceID, patience: RequestPatience, now: Int64) -> UInt16? {
        guard let process, process.unread == nil else { return nil }
        defer { takeOutputs(now: now) }
        do throws(RequestRefusal) {
            let id = try process.host.submit(request, to: deviceID, patience: patience, at: time(now)).requestID
            takenCommands.append((deviceID, id))
            return id
        } catch {
            if let reason = process.discipline.reasonAgainst(error, isRadioOpen: process.isOpen.contains(true), now: now) {
                oracle.report(.noRefusal, "host \(index) refuses a command although \(reason)")
            }
            return nil
        }
    }

    /// Number of requests to a collar that have not ended.
    func openRequestCount(of deviceID: DeviceID) -> Int { process?.host.openRequestCount(of: deviceID) ?? 0 }

    /// The version of the settings in the last report of a collar.
    func reportedSettingsVersion(of deviceID: DeviceID) -> SettingsVersion? { process?.host.reportedSettingsVersion(of: deviceID) }

    /// The sequences of a log that may be acknowledged.
    func durable(of log: LogIdentity) -> CoveredSequences {
        process?.host.durable(of: log) ?? CoveredSequences()
    }
}
