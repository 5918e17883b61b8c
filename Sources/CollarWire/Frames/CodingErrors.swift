/// Why a frame that a peer sent cannot be used. Bit and byte offsets count from the start of the bare frame.
public enum DecodeError: Error, Equatable, Sendable {
    /// Fewer than the 7 bytes of header and CRC.
    case tooShort(byteCount: Int)
    /// More than 253 bytes.
    case tooLong(byteCount: Int)
    /// A protocol version that this code does not support.
    case unsupportedVersion(UInt8)
    /// Critical flag bits that this version does not know.
    case unknownCriticalFlags(UInt8)
    /// A type this version does not know.
    case unknownType(UInt8)
    /// A sealed frame, which only its key opens; see ``SealedFrame``.
    case sealed
    /// The CRC does not match.
    case crcMismatch
    /// A live fix, which cannot be decoded without its anchor; see ``LiveFix``.
    case anchorNeeded
    /// The payload ends inside a field.
    case truncated(bitOffset: Int)
    /// The payload goes on after its last field.
    case trailingBytes(byteOffset: Int)
    /// The bits that pad the payload to a whole byte are not zero.
    case nonzeroPadding(bitOffset: Int)
    /// A field holds an invalid code.
    case invalidField(WireField, code: UInt32)

    /// The name of the error in `Protocol/PROTOCOL.md` and in the vectors.
    public var name: StaticString {
        switch self {
        case .tooShort: "too_short"
        case .tooLong: "too_long"
        case .unsupportedVersion: "unsupported_version"
        case .unknownCriticalFlags: "critical_flags"
        case .unknownType: "unknown_type"
        case .sealed: "not_opened"
        case .crcMismatch: "check_failed"
        case .anchorNeeded: "anchor_needed"
        case .truncated: "truncated"
        case .trailingBytes: "trailing_bytes"
        case .nonzeroPadding: "nonzero_padding"
        case .invalidField: "invalid_field"
        }
    }
}

/// A field whose code or value can be invalid.
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
    /// A range of sequences in an ``Acknowledgement`` or a ``Tombstone``.
    case range
    /// ``Identity/maximumFrameByteCount`` or ``RadioIdentity/maximumFrameByteCount``.
    case frameLimit
    /// The distance of a live fix from its anchor.
    case anchor
    /// A coded difference, in a live fix or a batch, that gives a value outside the field's range.
    case difference
    /// The id of a receiver, which is never 0.
    case receiver
    /// A voltage above 8190 mV.
    case voltage
    /// A temperature of −128 °C.
    case temperature
    /// A counter of more than 24 bits.
    case counter
    /// A time that 48 bits cannot hold.
    case time
    /// Milliseconds of an uptime above 999.
    case uptime
    /// The mode of a ``PowerReport``.
    case mode
    /// The supply of the GNSS receiver in a ``PowerReport``.
    case supply
    /// The number of entries of ``Settings``.
    case entryCount
    /// The action of a ``Command``.
    case command
    /// The outcome in a ``CommandResult`` or in a reply.
    case outcome
    /// The kind of an ``ApplicationMessage``.
    case messageKind
    /// The number of bytes of data in an ``ApplicationMessage``.
    case messageLength
    /// A field of ``ModemSettings``.
    case modulation
    /// The CRC of the packet that a ``SignalReport`` is about.
    case packetCRC
    /// A signal-to-noise ratio of −3276.8 dB.
    case signalToNoise
    /// The number of the poll that an ``Acknowledgement`` answers.
    case poll
    /// ``Fix/altitudeSteps``. Every code on the wire is valid, so only encoders report this field.
    case altitude
    /// ``Fix/speedDecimetersPerSecond``. Every code on the wire is valid, so only encoders report this field.
    case speed

    /// The names of the field in `Protocol/PROTOCOL.md` and in the vectors: up to three, because messages name some fields
    /// differently.
    public var names: (StaticString, StaticString?, StaticString?) {
        switch self {
        case .source: ("source", nil, nil)
        case .positionStep: ("position_step", nil, nil)
        case .secondFraction: ("time", nil, nil)
        case .latitude: ("latitude", nil, nil)
        case .longitude: ("longitude", nil, nil)
        case .horizontalAccuracy: ("horizontal_accuracy", nil, nil)
        case .verticalAccuracy: ("vertical_accuracy", nil, nil)
        case .course: ("course", nil, nil)
        case .heading: ("heading", nil, nil)
        case .battery: ("battery", nil, nil)
        case .sequence: ("sequence", "oldest_sequence", nil)
        case .range: ("durable", "resend", "ranges")
        case .frameLimit: ("largest_frame", nil, nil)
        case .anchor: ("anchor", "distance", "sequence")
        case .difference: ("difference", "position_step", "source")
        case .receiver: ("receiver_id", nil, nil)
        case .voltage: ("voltage", nil, nil)
        case .temperature: ("temperature", nil, nil)
        case .counter: ("counter", nil, nil)
        case .time: ("time", nil, nil)
        case .uptime: ("uptime", nil, nil)
        case .mode: ("mode", nil, nil)
        case .supply: ("supply", nil, nil)
        case .entryCount: ("entry_count", nil, nil)
        case .command: ("command", nil, nil)
        case .outcome: ("outcome", nil, nil)
        case .messageKind: ("message_kind", nil, nil)
        case .messageLength: ("message_length", nil, nil)
        case .modulation: ("modulation", nil, nil)
        case .packetCRC: ("packet_check", nil, nil)
        case .signalToNoise: ("signal_to_noise", nil, nil)
        case .poll: ("poll", nil, nil)
        case .altitude: ("altitude", nil, nil)
        case .speed: ("speed", nil, nil)
        }
    }
}

/// Why a message cannot be written.
public enum EncodeError: Error, Equatable, Sendable {
    /// The frame does not fit the output.
    case frameTooSmall(neededByteCount: Int)
    /// A field is out of range.
    case field(WireField, value: UInt32)
}
