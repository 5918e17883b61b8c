extension Unicode.Scalar {
    /// Whether the character controls how a terminal shows a text: a control character, a separator of lines, or a format
    /// character, which can reverse the direction of the text after it.
    package var controlsText: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
