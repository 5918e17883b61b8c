import CollarWire

/// The names of the sources, each with what stands around it.
struct FixSourceTexts {
    private let watchOS: InlineBytes
    private let iOS: InlineBytes
    private let collar: InlineBytes

    init(prefix: String, suffix: String) {
        watchOS = InlineBytes(prefix + "watchOS" + suffix)
        iOS = InlineBytes(prefix + "iOS" + suffix)
        collar = InlineBytes(prefix + "collar" + suffix)
    }

    @inline(__always)
    subscript(source: FixSource) -> InlineBytes {
        switch source {
        case .watchOS: watchOS
        case .iOS: iOS
        case .collar: collar
        }
    }
}
