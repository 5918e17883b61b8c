import CollarHost
import CollarJournal

/// Writes entries of journals in one of the formats.
///
/// A document is ``begin(into:)``, then entries, then ``end(into:)``. After the end, the next document can begin.
package struct EntryFormatter {
    private let options: FormatOptions
    private var lines: FixLineWriter

    /// Creates a formatter.
    package init(_ options: FormatOptions) {
        self.options = options
        lines = FixLineWriter(flavour: options.flavour, sourceAs: options.sourceAs)
    }

    /// Appends what is before the first entry of a document.
    package mutating func begin(into bytes: inout [UInt8]) {}

    /// Appends an entry. An entry that the format cannot express appends nothing.
    package mutating func append(_ content: EmittedEntry.Content, deviceID: UInt64, to bytes: inout [UInt8]) {
        switch content {
        case .fix(let record): append(ReceivedFix(deviceID: deviceID, record), to: &bytes)
        case .message(let record):
            switch options.format {
            case .json: bytes += record.line(deviceID: deviceID)
            case .text: bytes += (FixDescription.line(of: record, deviceID: deviceID) + "\n").utf8
            }
        case .gap(let change):
            switch options.format {
            case .json: bytes += change.line(deviceID: deviceID)
            case .text: bytes += (FixDescription.line(of: change, deviceID: deviceID) + "\n").utf8
            }
        }
    }

    /// Appends a fix.
    package mutating func append(_ received: ReceivedFix, to bytes: inout [UInt8]) {
        switch options.format {
        case .json: lines.append(received, to: &bytes)
        case .text: bytes += (FixDescription.line(of: received) + "\n").utf8
        }
    }

    /// Appends what is after the last entry of a document.
    package mutating func end(into bytes: inout [UInt8]) {}
}
