import FoundationEssentials

extension DecimalNumber: Codable {
    /// Decodes a number digit by digit where the decoder can (`Decimal`), else through a `Double`.
    init(from decoder: any Decoder) throws {
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

    /// Encodes every digit, so that a time in milliseconds keeps more of them than a `Double` holds.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        // Decimal holds exponents down to -128; what is smaller fits a Double as well as anything.
        if exponent > -100, exponent < 80, let decimal = Decimal(string: description) {
            try container.encode(decimal)
        } else {
            try container.encode(doubleValue ?? 0)
        }
    }
}
