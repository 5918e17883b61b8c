/// Text for a terminal of a given width.
package enum TextFlow {
    /// Joins items to lines. An item that does not fit begins the next line; no item is broken.
    /// - Parameters:
    ///   - items: the items; empty ones are left out.
    ///   - separator: the text between two items on a line.
    ///   - column: the column in which the first line begins.
    ///   - hanging: how many spaces precede each further line.
    ///   - width: the width of a line, in characters.
    package static func joined(
        _ items: [some StringProtocol], separator: String = "  ", column: Int = 0, hanging: Int, width: Int
    ) -> String {
        var text = ""
        var column = column
        for item in items where !item.isEmpty {
            if !text.isEmpty {
                if column + separator.count + item.count > width {
                    text += "\n" + String(repeating: " ", count: hanging)
                    column = hanging
                } else {
                    text += separator
                    column += separator.count
                }
            }
            text += item
            column += item.count
        }
        return text
    }
}
