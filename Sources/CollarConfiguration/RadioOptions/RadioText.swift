import CollarFormats

/// Values of radios as a person writes them.
package enum RadioText {
    /// A frequency in megahertz, without the unit: 869525000 is "869.525".
    package static func megahertz(_ hertz: UInt32) -> String { DecimalNumber(significand: Int128(hertz), exponent: -6).description }

    /// A bandwidth in kilohertz, without the unit: 62500 is "62.5".
    package static func kilohertz(_ hertz: UInt32) -> String { DecimalNumber(significand: Int128(hertz), exponent: -3).description }

    /// A time in milliseconds, without the unit.
    package static func milliseconds(_ microseconds: Int64) -> String {
        DecimalNumber(significand: Int128(microseconds), exponent: -3).description
    }
}
