
import CollarJournal

/// Writes entries of journals in one of the formats.
///
/// A document is ``begin(into:)``, then entries, then ``end(into:)``. After the end, the next document can begin. Memory does not
/// grow with the number of entries.
package struct EntryFormatter {
    private var writer: any FormatWriter
    /// The fixes that were left out because the format cannot express them.
    package var omissions: OmissionCount

    /// Creates a formatter.
    package init(_ options: FormatOptions) {
        writer = options.makeWriter()
        omissions = OmissionCount(options.format)
    }

    /// Changes which animal wears which collar, from the next entry on.
    package mutating func setDeployments(_ deployments: DeploymentTable) { writer.setDeployments(deployments) }

    /// Appends what is before the first entry of a document.
    package mutating func begin(into bytes: inout [UInt8]) { writer.begin(into: &bytes) }

    /// Appends an entry. An entry that the format cannot express appends nothing.
    package mutating func append(_ content: EmittedEntry.Content, deviceID: UInt64, to bytes: inout [UInt8]) {
        switch content {
        case .fix(let record): append(ReceivedFix(deviceID: deviceID, record), to: &bytes)
        case .message(let record): writer.append(record, deviceID: deviceID, to: &bytes)
        case .gap(let change): writer.append(change, deviceID: deviceID, to: &bytes)
        }
    }

    /// Appends a fix. A fix that the format cannot express appends nothing.
    package mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        let count = bytes.count
        writer.append(received, to: &bytes)
        if bytes.count == count { omissions.add(1) }
    }

    /// Appends what is after the last entry of a document.
    package mutating func end(into bytes: inout [UInt8]) { writer.end(into: &bytes) }
}
