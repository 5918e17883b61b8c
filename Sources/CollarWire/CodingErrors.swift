/// Why a frame that a peer sent cannot be used. Bit and byte offsets count from the start of the bare frame.
public enum DecodeError: Error, Equatable, Sendable {
    /// Fewer bytes than header and check.
    case tooShort(byteCount: Int)
    /// More than 253 bytes.
    case tooLong(byteCount: Int)
    /// A version this code does not speak.
    case unsupportedVersion(UInt8)
    /// Flag bits that must be understood and are not.
    case unknownCriticalFlags(UInt8)
    /// A type this version does not know.
    case unknownType(UInt8)
    /// The check does not match.
    case checkFailed
    /// A live fix: what it is coded against is not at hand here, see ``LiveFix``.
    case anchorNeeded
    /// The payload ends inside a field.
    case truncated(bitOffset: Int)
    /// The payload goes on after its last field.
    case trailingBytes(byteOffset: Int)
    /// The bits that pad the payload to a whole byte are not zero.
    case nonzeroPadding(bitOffset: Int)
    /// A field holds a code that means nothing.
    case invalidField(WireField, code: UInt32)
}

/// A field whose code can be invalid.
public enum WireField: UInt8, Equatable, Sendable {
    /// ``Fix/source``.
    case source
    /// ``Fix/positionStep``.
    case positionStep
    /// Fraction of a second in ``Fix/unixMilliseconds``.
    case secondFraction
    /// ``Fix/latitudeSteps``.
    case latitude
    /// ``Fix/longitudeSteps``.
    case longitude
    /// ``Fix/horizontalAccuracy``.
    case horizontalAccuracy
    /// ``Fix/verticalAccuracy``.
    case verticalAccuracy
    /// ``Fix/course``.
    case course
    /// ``Fix/heading``.
    case heading
    /// ``Fix/batteryPercent``.
    case battery
    /// ``Fix/sequence``, or a sequence in another message.
    case sequence
    /// A range of sequences in an ``Acknowledgement``.
    case range
    /// ``Identity/maximumFrameByteCount``.
    case frameLimit
    /// The distance of a live fix from its anchor.
    case anchor
    /// The difference of a live fix to its anchor leads out of a field's range.
    case difference
    /// The id of a receiver, which is never 0.
    case receiver
    /// A voltage above 8190 mV.
    case voltage
    /// A temperature of −128 °C.
    case temperature
    /// A counter of more than 24 bits.
    case counter
    /// A time beyond 48 bits.
    case time
    /// How many ``Setting``s follow.
    case entryCount
    /// The order of a ``Command``.
    case command
    /// The outcome of a ``CommandResult``.
    case outcome
    /// How a modem is set.
    case modulation
    /// The check of the packet that a ``SignalReport`` is about.
    case packetCheck
    /// A signal to noise of −3276.8 dB.
    case signalToNoise
    /// The number of the ask that an ``Acknowledgement`` answers.
    case ask
    /// ``Fix/altitudeSteps``; every code of it is valid.
    case altitude
    /// ``Fix/speedDecimetersPerSecond``; every code of it is valid.
    case speed
}

/// Why a message cannot be written.
public enum EncodeError: Error, Equatable, Sendable {
    /// The frame does not fit the given room.
    case frameTooSmall(neededByteCount: Int)
    /// A field is out of range.
    case field(WireField, value: UInt32)
}
