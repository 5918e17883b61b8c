/// Which of the seven fields that may be unknown are known; seven bits, the first field the most significant.
struct FieldPresence: Equatable {
    var rawValue: UInt8

    static let bitCount = 7
    static let altitude = FieldPresence(rawValue: 1 &<< 6)
    static let horizontalAccuracy = FieldPresence(rawValue: 1 &<< 5)
    static let verticalAccuracy = FieldPresence(rawValue: 1 &<< 4)
    static let speed = FieldPresence(rawValue: 1 &<< 3)
    static let course = FieldPresence(rawValue: 1 &<< 2)
    static let heading = FieldPresence(rawValue: 1 &<< 1)
    static let battery = FieldPresence(rawValue: 1 &<< 0)
    static let complete = FieldPresence(rawValue: (1 &<< 7) - 1)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    var isComplete: Bool { self == .complete }

    func contains(_ field: FieldPresence) -> Bool { rawValue & field.rawValue != 0 }
}
