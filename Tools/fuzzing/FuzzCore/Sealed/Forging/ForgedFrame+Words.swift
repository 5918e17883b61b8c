import CollarWire

/// The words for a finding.
extension ForgedFrame {
    /// The frame as it was sealed and as it was presented, with the values that were held against it.
    var words: String {
        let taken = type.map { ", taken for \($0)" } ?? ""
        let sealed = "sealed \(sample.bytes.hexadecimal) with \(sample.presentation.words)"
        let presented = "presented \(bytes.hexadecimal) with \(presentation.words)"
        return "\(sample.type), key \(collar.key.hexadecimal), \(sealed); \(presented)\(taken)"
    }
}

extension Presentation {
    fileprivate var words: String {
        let bound =
            switch binding {
            case .none: ""
            case .sequence(let sequence): " sequence \(sequence)"
            case .anchor(let anchor): " anchor \(anchor.sequence)"
            }
        return "device \(log.deviceID.rawValue) log \(log.logID.rawValue) boot \(number.bootCount) counter \(number.counter)"
            + " receiver \(receiverID)\(bound)"
    }
}

extension [UInt8] {
    /// The bytes in hexadecimal digits.
    fileprivate var hexadecimal: String {
        let digits = Array<Character>("0123456789abcdef")
        return String(flatMap { [digits[Int($0 / 16)], digits[Int($0 % 16)]] })
    }
}
