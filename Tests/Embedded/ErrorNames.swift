import CollarWire

/// Whether the text equals the word.
func isEqual(_ text: TableBytes, _ word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    for index in 0..<text.count where text[index] != word.utf8Start[index] { return false }
    return true
}

extension DecodeError {
    /// Whether this is the error that a vector names, in the field that the vector names.
    func isNamed(_ error: TableBytes, field: TableBytes) -> Bool {
        guard isEqual(error, name) else { return false }
        guard case .invalidField(let invalid, _) = self else { return field.count == 0 }
        return invalid.isNamed(field)
    }
}

extension WireField {
    /// Whether the text is a name of the field in PROTOCOL.md.
    fileprivate func isNamed(_ text: TableBytes) -> Bool {
        let names = names
        if isEqual(text, names.0) { return true }
        if let second = names.1, isEqual(text, second) { return true }
        if let third = names.2, isEqual(text, third) { return true }
        return false
    }
}
