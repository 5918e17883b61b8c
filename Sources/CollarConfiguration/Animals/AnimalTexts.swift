import CollarFormats

// What the texts of the animals file may be: the same rules hold for a file that a person has edited and for a change.

extension AnimalRegister {
    /// The keys of an animal.
    package enum Key: String, CaseIterable, Sendable {
        /// The scientific name of its species.
        case species
        /// What else is noted.
        case notes
        /// A collar, and when it is worn.
        case wears
    }

    /// Checks the name of an animal.
    package static func checkName(_ name: String) throws(AnimalRegisterError.Problem) {
        try check(name, as: .name)
        if CollarID.deviceID(name) != nil { throw .wrongText(name, of: .name, .collarID) }
    }

    /// Checks a name or a value.
    package static func check(_ text: String, as kind: AnimalRegisterError.TextKind) throws(AnimalRegisterError.Problem) {
        let byteLimit = kind == .notes ? notesByteLimit : nameByteLimit
        let fault: AnimalRegisterError.TextFault? =
            if text.isEmpty {
                .empty
            } else if text.utf8.count > byteLimit {
                .tooLong(byteLimit: byteLimit)
            } else if text.controlsText {
                .controlCharacter
            } else if text.trimmed != text[...] {
                .outerSpace
            } else if ConfigurationLine.withoutComment(text[...]) != text[...] {
                .comment
            } else {
                nil
            }
        if let fault { throw .wrongText(text, of: kind, fault) }
    }
}
