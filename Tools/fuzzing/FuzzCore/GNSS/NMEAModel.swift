/// Finds NMEA sentences in a plain way, and makes them.
enum NMEAModel {
    /// The sentences with a correct checksum: the bytes between "$" and "*".
    static func sentences(_ bytes: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for part in bytes.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).dropFirst() {
            guard let star = part.firstIndex(of: UInt8(ascii: "*")), part.endIndex - star >= 3 else { continue }
            let text = part[part.startIndex..<star]
            let isPlain = text.count <= 100 && text.allSatisfy { (0x20...0x7E).contains($0) }
            let digits = part[(star + 1)...(star + 2)]
            guard isPlain, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit && $0 < 0x80 }),
                UInt8(String(decoding: digits, as: UTF8.self), radix: 16) == text.reduce(0, ^)
            else { continue }
            found.append(Array(text))
        }
        return found
    }

    /// A whole sentence.
    static func sentence(_ text: String) -> [UInt8] {
        let checksum = text.utf8.reduce(0, ^)
        let digits = String(checksum, radix: 16)
        return Array("$\(text)*\(digits.count < 2 ? "0" : "")\(digits)\r\n".utf8)
    }
}
