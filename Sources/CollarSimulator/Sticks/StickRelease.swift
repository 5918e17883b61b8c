import RadioModems

/// A release of a stick's firmware from which on it behaves in another way. The raw values are the names that a person types.
/// Each is proven by a file in `Tests/Transcripts`.
package enum StickRelease: String, CaseIterable, Comparable, Sendable {
    /// MeshCore: the first release with the KISS modem, with a preamble of 16 symbols.
    case kissFirst = "1.13"
    /// MeshCore: a preamble of 32 symbols up to SF8.
    case kissLongPreamble = "1.16"
    /// MeshCore: a packet too many is refused with an error.
    case kissReportsBusy = "1.17.1"
    /// RNode.
    case rnode = "1.86"
    /// RUI3: bandwidths in kilohertz.
    case rui3Kilohertz = "3.4.2"
    /// RUI3: bandwidths by index only.
    case rui3Index = "3.5.3"
    /// RUI3: both forms of bandwidths; the sync word and the like can be set.
    case rui3BothForms = "4.0.1"
    /// RUI3: a packet that was sent is reported.
    case rui3ReportsSent = "4.0.5"
    /// RUI3: tells whether it receives, and refuses settings meanwhile.
    case rui3ReportsReception = "4.1.0"
    /// RUI3: packets have at most 239 bytes.
    case rui3ShortPackets = "4.2.0"

    /// The dialect of the firmware.
    package var dialect: Dialect {
        switch self {
        case .kissFirst, .kissLongPreamble, .kissReportsBusy: .kiss
        case .rnode: .rnode
        case .rui3Kilohertz, .rui3Index, .rui3BothForms, .rui3ReportsSent, .rui3ReportsReception, .rui3ShortPackets: .rui3
        }
    }

    /// The release of a dialect's firmware with this name; nil if there is none.
    package init?(rawValue: String, of dialect: Dialect) {
        guard let release = StickRelease(rawValue: rawValue), release.dialect == dialect else { return nil }
        self = release
    }

    /// The releases of a dialect's firmware, oldest first; none for a serial line.
    package static func all(of dialect: Dialect) -> [StickRelease] { allCases.filter { $0.dialect == dialect } }

    /// The order of the releases of one dialect.
    package static func < (left: StickRelease, right: StickRelease) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}
