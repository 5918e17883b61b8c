import CollarWire
import FuzzCore

/// A value as the independent decoder prints it: JSON with sorted keys, and a space after colon and comma.
indirect enum ReferenceText {
    case null
    case integer(Int128)
    case flag(Bool)
    case text(String)
    case list([ReferenceText])
    case fields([String: ReferenceText])

    init(_ integer: some BinaryInteger) { self = .integer(Int128(integer)) }

    init(_ integer: (some BinaryInteger)?) { self = integer.map { .integer(Int128($0)) } ?? .null }

    /// 16 hexadecimal digits.
    init(hexadecimal number: UInt64) { self = .text(Hexadecimal.text(of: number)) }

    init(_ version: FirmwareVersion) {
        self = .list([ReferenceText(version.major), ReferenceText(version.minor), ReferenceText(version.patch)])
    }

    init(_ ranges: SequenceRangeList) {
        self = .list(
            (0..<ranges.count).map { .list([ReferenceText(ranges[$0].first), ReferenceText(ranges[$0].last)]) })
    }

    var description: String {
        switch self {
        case .null: "null"
        case .integer(let integer): "\(integer)"
        case .flag(let flag): "\(flag)"
        case .text(let text): "\"\(text)\""
        case .list(let list): "[\(list.map(\.description).joined(separator: ", "))]"
        case .fields(let fields): "{\(ReferenceText.members(fields).joined(separator: ", "))}"
        }
    }

    private static func members(_ fields: [String: ReferenceText]) -> [String] {
        fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value.description)" }
    }
}
