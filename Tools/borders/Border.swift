/// An input of a border, in parts: the frames of a dialogue, the records of a file, or one text.
typealias Input = [[UInt8]]

/// A place where the program takes numbers from outside.
protocol Border {
    /// The name by which a run names it.
    var name: String { get }
    /// Valid inputs.
    var seeds: [Input] { get }
    /// How many bytes at the beginning of each part may be numbers, besides those in digits.
    var binaryByteCount: Int { get }
    /// Whether a run takes milliseconds.
    var isSlow: Bool { get }

    /// Whether digits in the line of a text are a number, and no part of a name.
    /// - Parameter before: what is before the digits in their line.
    func isNumber(after before: [UInt8]) -> Bool

    /// Takes an input as the program does. It must return: an error is as good as a value.
    mutating func run(_ input: Input)
}

extension Border {
    var binaryByteCount: Int { 0 }
    var isSlow: Bool { false }
    func isNumber(after before: [UInt8]) -> Bool { true }
}

/// All borders.
func allBorders() -> [any Border] {
    [
        StickBorder(.rui3), StickBorder(.kiss), StickBorder(.rnode), CaptureBorder(), PlaybackBorder(), StateBorder(), ReaderBorder(),
        JournalBorder(), MachineBorder(), OptionBorder(), ConfigurationBorder(), ControlBorder(), TrackBorder(),
    ]
}
