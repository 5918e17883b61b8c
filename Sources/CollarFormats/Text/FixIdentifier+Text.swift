import CollarWire

extension FixIdentifier {
    /// The identifier in the text form of RFC 9562, in lower case.
    package var text: String {
        let first = MessageDescription.hexadecimal(high)
        let second = MessageDescription.hexadecimal(low)
        let groups = [first.prefix(8), first.dropFirst(8).prefix(4), first.suffix(4), second.prefix(4), second.dropFirst(4)]
        return groups.joined(separator: "-")
    }
}
