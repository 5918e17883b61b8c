import CheckedNumbers
import CollarWire

/// What this host knows of the state that it shares with a collar.
package struct KeptSharedState: Equatable, Sendable {
    /// The newest state that the collar has confirmed or told; nil if none is known.
    package var confirmed: SharedStateMessage?
    /// A change of this host that the collar has not confirmed; nil if there is none.
    package var pending: SharedStateMessage?
    /// All messages that were received before this time are taken into account, in milliseconds since 1970.
    package var seenUnixMilliseconds: Int64 = 0

    package init() {}

    /// The state as this host sees it.
    package var current: SharedStateMessage? { pending ?? confirmed }
    /// The highest version that this host knows.
    package var highestVersion: SettingsVersion { max(confirmed?.version ?? .defaults, pending?.version ?? .defaults) }

    private static let title = "collar-link shared state 1"

    /// The text of the file: a title, and a line for each value.
    package var text: String {
        var lines = [KeptSharedState.title, "seen \(seenUnixMilliseconds)"]
        if let confirmed { lines.append("confirmed \(KeptSharedState.text(of: confirmed))") }
        if let pending { lines.append("pending \(KeptSharedState.text(of: pending))") }
        return lines.map { $0 + "\n" }.joined()
    }

    private static func text(of state: SharedStateMessage) -> String {
        "\(String(state.version.rawValue, radix: 16, minimumDigits: 16)) \(String(hexadecimal: state.state))"
    }

    /// Reads the text of a file; nil for any other text.
    package init?(text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
        guard lines.popFirst() == Self.title[...], lines.popLast()?.isEmpty == true else { return nil }
        for line in lines {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            switch words.first {
            case "seen":
                guard words.count == 2, let time = Int64(words[1], in: 0 ... .max) else { return nil }
                seenUnixMilliseconds = time
            case "confirmed": confirmed = Self.state(words)
            case "pending": pending = Self.state(words)
            default: return nil
            }
            if words[0] == "confirmed", confirmed == nil { return nil }
            if words[0] == "pending", pending == nil { return nil }
        }
    }

    private static func state(_ words: [String]) -> SharedStateMessage? {
        guard words.count == 3, words[1].utf8.count == 16, let version = UInt64(hexadecimal: words[1], in: 1 ... .max),
            let bytes = [UInt8](hexadecimal: words[2])
        else { return nil }
        return SharedStateMessage(version: SettingsVersion(rawValue: version), state: bytes.span)
    }
}
