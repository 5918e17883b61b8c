import CollarDomain
import CollarJournal

extension ReceivedFix {
    /// A fix as a collar's journal keeps it.
    /// - Parameter deviceID: the collar's, which is not in the record.
    public init(deviceID: UInt64, _ record: JournaledFix) {
        self.init(
            deviceID: deviceID, logID: record.logID, receivedUnixMilliseconds: record.receivedUnixMilliseconds,
            fix: record.fix,
            signal: record.signal.map {
                RadioSignal(strengthDBm: $0.strengthDBm, signalToNoiseTenthsDB: $0.signalToNoiseTenthsDB)
            })
    }
}
