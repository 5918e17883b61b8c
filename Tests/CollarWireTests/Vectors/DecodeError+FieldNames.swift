import CollarWire

extension DecodeError {
    /// The names that the invalid field may have in a vector.
    var fieldNames: Set<String> {
        guard case .invalidField(let field, _) = self else { return [] }
        let names = field.names
        return Set([names.0, names.1, names.2].compactMap { $0?.description })
    }
}
