/// How many collars a host hears at a port, as its acknowledgements there say (PROTOCOL.md, section 9).
public enum Company: UInt8, Equatable, Sendable {
    /// One collar.
    case alone = 0
    /// 2 … 4 collars.
    case few = 1
    /// 5 … 16 collars.
    case several = 2
    /// More than 16 collars.
    case many = 3

    /// The company of a collar at a port where `collarCount` collars are heard, itself among them.
    public init(collarCount: Int) {
        self = collarCount <= 1 ? .alone : collarCount <= 4 ? .few : collarCount <= 16 ? .several : .many
    }

    /// The number of collars for which a collar in this company waits: 1, 4, 16 or 64.
    public var assumedCount: Int64 {
        switch self {
        case .alone: 1
        case .few: 4
        case .several: 16
        case .many: 64
        }
    }
}

extension FrameFlags {
    private static let companyShift: UInt8 = 3

    /// Flags of an acknowledgement in clear.
    init(company: Company) { self.init(rawValue: company.rawValue &<< FrameFlags.companyShift) }

    /// In an acknowledgement: how many collars the host hears at the port.
    var company: Company {
        Company(rawValue: (rawValue & FrameFlags.ignorableMask) &>> FrameFlags.companyShift) ?? .alone
    }
}
