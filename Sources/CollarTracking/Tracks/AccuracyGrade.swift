import CollarWire

/// The accuracy of a fix in a word: excellent below 5 m, good to 10 m, fair to 50 m, else poor.
///
/// The code decides, because it rounds: an accuracy of 5 m arrives as 4.833 m and is good, one of 10 m arrives as 9.63 m and is good, too.
package enum AccuracyGrade: String, Sendable {
    case excellent, good, fair, poor

    package init(_ accuracy: AccuracyCode) {
        self =
            switch accuracy.rawValue {
            // Code 55 has 4.833 m, code 63 has 9.630 m, and code 82, the code of 50 m, has 49.512 m.
            case ..<55: .excellent
            case ...63: .good
            case ...82: .fair
            default: .poor
            }
    }
}
