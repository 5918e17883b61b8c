import CollarFormats
import FoundationEssentials

extension DecimalNumber: Codable {
    /// Decodes a number with all its digits through `Decimal` if the decoder supports that, else through a `Double`.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let decimal = try? container.decode(Decimal.self), let number = DecimalNumber(text: decimal.description) {
            self = number
            return
        }
        let value = try container.decode(Double.self)
        guard let number = DecimalNumber(value) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(value) is not a finite number")
        }
        self = number
    }

    /// Encodes every digit: a time in milliseconds may have more digits than a `Double` holds.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        // `Decimal` holds exponents from −128 to 127; for numbers near or beyond these limits a `Double` is good enough.
        if exponent > -100, exponent < 80, let decimal = Decimal(string: description) {
            try container.encode(decimal)
        } else {
            try container.encode(doubleValue ?? 0)
        }
    }
}
