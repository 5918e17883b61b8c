import CheckedNumbers
import CollarFormats

/// How a section of the configuration file names a stick.
package enum StickName: Hashable, Sendable {
    /// `serial=…`: the serial number of its USB device.
    case serial(String)
    /// `id-path=…`: the socket it is plugged into, as udev names it.
    case idPath(String)
    /// `path=…`: its device node, or a symbolic link to it.
    case path(String)
    /// `port=tcp://HOST:PORT`: a port of the network.
    case port(String)

    /// The forms of a section, for messages.
    package static let forms = "[stick serial=NUMBER], [stick id-path=PATH], [stick path=/dev/NAME] or [stick port=tcp://HOST:PORT]"

    /// Reads the header of a section, with its brackets; nil if it names no stick.
    package init?(section: Substring) {
        guard section.hasPrefix("["), section.hasSuffix("]") else { return nil }
        let words = section.dropFirst().dropLast().trimmed
        guard words.hasPrefix("stick"), let first = words.dropFirst(5).first, first.isSpaceOrTab else { return nil }
        let parts = words.dropFirst(5).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let value = String(parts[1].trimmed)
        guard !value.isEmpty else { return nil }
        switch parts[0].trimmed {
        case "serial": self = .serial(value)
        case "id-path": self = .idPath(value)
        case "path" where value.hasPrefix("/"): self = .path(value)
        case "port" where StickName.isNetworkPort(value): self = .port(value)
        default: return nil
        }
    }

    /// Whether a text is `tcp://HOST:PORT`. The host may be an address in brackets.
    private static func isNetworkPort(_ text: String) -> Bool {
        guard text.hasPrefix("tcp://"), let colon = text.lastIndex(of: ":") else { return false }
        let host = text[..<colon].dropFirst(6)
        guard UInt16(text[text.index(after: colon)...], in: 1 ... .max) != nil else { return false }
        return !host.isEmpty
    }
}
