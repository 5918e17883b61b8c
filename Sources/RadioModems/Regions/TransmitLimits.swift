/// The limits that the rules of a region set to the transmissions of a radio.
package struct TransmitLimits: Equatable, Sendable {
    /// The part of each hour in which the radio may send, in millionths; nil for no limit.
    package var dutyCyclePartsPerMillion: Int64?
    /// The longest airtime of one frame, in microseconds; nil for no limit.
    package var dwellMicroseconds: Int64?

    /// Creates limits.
    package init(dutyCyclePartsPerMillion: Int64? = nil, dwellMicroseconds: Int64? = nil) {
        self.dutyCyclePartsPerMillion = dutyCyclePartsPerMillion
        self.dwellMicroseconds = dwellMicroseconds
    }
}

/// How a stick is to be used.
package struct ModemConfiguration: Equatable, Sendable {
    /// The dialect that a person named; nil to find it out.
    package var dialect: Dialect?
    /// The settings of the stick's radio; nil if they are not chosen. A stick that needs settings is then not used.
    package var settings: RadioSettings?
    /// The limits to the transmissions of the radio; nil if no region is set, so that nothing is sent. They do not apply to the
    /// dialect ``Dialect/serial``, where the stick's own firmware keeps the limits.
    package var limits: TransmitLimits?

    /// Creates a configuration.
    package init(dialect: Dialect? = nil, settings: RadioSettings? = nil, limits: TransmitLimits? = nil) {
        self.dialect = dialect
        self.settings = settings
        self.limits = limits
    }
}
