
import CollarJournal

/// Writes documents of one format.
protocol FormatWriter {
    /// Appends what is before the first entry of a document.
    mutating func begin(into bytes: inout [UInt8])
    /// Appends a fix, unless the format cannot express it.
    /// - Precondition: the fix is valid (`Fix.validate()`).
    mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8])
    /// Appends a message of a collar's application, where the format has messages.
    mutating func append(_ message: JournaledMessage, deviceID: UInt64, to bytes: inout [UInt8])
    /// Appends a change of a gap, where the format has gaps.
    mutating func append(_ change: GapChange, deviceID: UInt64, to bytes: inout [UInt8])
    /// Appends what is after the last entry of a document.
    mutating func end(into bytes: inout [UInt8])
    /// Changes which animal wears which collar, from the next entry on.
    mutating func setDeployments(_ deployments: DeploymentTable)
}

/// Most formats are rows of fixes alone.
extension FormatWriter {
    mutating func begin(into bytes: inout [UInt8]) {}
    mutating func append(_ message: JournaledMessage, deviceID: UInt64, to bytes: inout [UInt8]) {}
    mutating func append(_ change: GapChange, deviceID: UInt64, to bytes: inout [UInt8]) {}
    mutating func end(into bytes: inout [UInt8]) {}
}
