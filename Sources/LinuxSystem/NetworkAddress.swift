import CheckedNumbers

/// The address of a radio that another machine passes on over TCP: `tcp://HOST:PORT`.
package struct NetworkAddress: Equatable, Sendable {
    /// The start of the path of such a port.
    package static let scheme = "tcp://"

    /// A name or a numeric address.
    package let host: String
    /// The TCP port, 1 … 65,535.
    package let port: UInt16

    /// Reads an address. A numeric address of IPv6 is in square brackets.
    /// - Returns: nil if the text is not `tcp://HOST:PORT`.
    package init?(_ text: String) {
        guard text.hasPrefix(NetworkAddress.scheme) else { return nil }
        var rest = text.dropFirst(NetworkAddress.scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard let colon = rest.lastIndex(of: ":") else { return nil }
        guard let port = UInt16(rest[rest.index(after: colon)...], in: 1 ... .max) else { return nil }
        var host = rest[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "@" }) else { return nil }
        self.host = String(host)
        self.port = port
    }
}
