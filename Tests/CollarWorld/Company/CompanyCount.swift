import CollarWire

/// How many collars the host of a ``CompanyTrial`` may count, as section 19 of PROTOCOL.md says, from the frames on the air alone.
struct CompanyCount {
    /// When the newest packet of each collar reached the host; nil for never.
    private var arrivals: [Int64?]
    /// When the host answered each collar last; nil for never.
    private var answers: [Int64?]
    private var hostStart: Int64 = 0
    private let longest: Int64

    private static let shortest: Int64 = 600_000_000
    /// An answer follows its poll within this time.
    private static let tolerance: Int64 = 5_000_000

    init(collarCount: Int, heartbeat: Int64) {
        arrivals = Array(repeating: nil, count: collarCount)
        answers = arrivals
        longest = CompanyCount.longestMicroseconds(heartbeat: heartbeat)
    }

    /// How long a collar counts after its last frame.
    static func longestMicroseconds(heartbeat: Int64) -> Int64 { max(shortest, 3 * heartbeat) }

    mutating func arrived(from collar: Int, at now: Int64) { arrivals[collar] = now }

    mutating func hostStarted(at now: Int64) { hostStart = now }

    /// Notes an answer.
    /// - Returns: the rule that its company breaks; nil if it breaks none.
    mutating func answered(_ collar: Int, _ company: Company, at now: Int64) -> String? {
        // An identity that is not accepted, or a frame that the host cannot read, does not count; an answer shows that one does.
        answers[collar] = now
        let least = answers.count { $0.map { now - $0 < CompanyCount.shortest - CompanyCount.tolerance } ?? false }
        let isNew = now - hostStart < CompanyCount.shortest + CompanyCount.tolerance
        let most = arrivals.count { $0.map { isNew && $0 < hostStart || now - $0 < longest + CompanyCount.tolerance } ?? false }
        let isRight = company.rawValue >= Company(collarCount: least).rawValue && company.rawValue <= Company(collarCount: most).rawValue
        return isRight ? nil : "an answer names the company \(company), and \(least) to \(most) collars were heard"
    }
}

extension Company {
    /// The company that an acknowledgement names in bits 4 and 3 of its flags.
    init(of acknowledgement: [UInt8]) { self = Company(rawValue: acknowledgement[1] >> 3 & 3) ?? .alone }
}
