import CollarWire

/// Why a frame was skipped, in words for people.
struct RejectionReason {
    /// The kind of fault, by which skipped frames are counted.
    let kind: String
    /// The invalid value of this frame, or its place in the bare frame; nil if there is nothing to add.
    var detail: String?

    /// The frame is bound to a log, and no identity has named one yet: its CRC cannot be verified.
    static let identityMissing = RejectionReason(kind: "without an identity before it")

    private init(kind: String) { self.kind = kind }

    init(_ error: DecodeError) {
        switch error {
        case .tooShort(let count): (kind, detail) = ("too short", "\(count) bytes")
        case .tooLong(let count): (kind, detail) = ("too long", "\(count) bytes")
        case .unsupportedVersion(let version): (kind, detail) = ("of another version", "\(version)")
        case .unknownCriticalFlags(let flags): (kind, detail) = ("with unknown critical flags", "0x\(String(flags, radix: 16))")
        case .unknownType(let type): (kind, detail) = ("of unknown type", "\(type)")
        case .sealed: kind = "sealed, not verified"
        case .crcMismatch: kind = "with a wrong CRC"
        case .anchorNeeded: kind = "without its anchor"
        case .truncated(let bit): (kind, detail) = ("truncated", "at bit \(bit)")
        case .trailingBytes(let byte): (kind, detail) = ("with trailing bytes", "from byte \(byte) on")
        case .nonzeroPadding(let bit): (kind, detail) = ("with nonzero padding", "at bit \(bit)")
        case .invalidField(let field, let code): (kind, detail) = ("with an invalid field", "\(field.names.0), code \(code)")
        }
    }

    init(_ fault: StreamFault) {
        switch fault {
        case .brokenStuffing: kind = "with broken stuffing"
        case .tooLong: kind = "too long"
        case .tooShort: kind = "too short"
        }
    }
}
