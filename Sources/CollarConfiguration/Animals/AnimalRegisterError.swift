/// An error in the animals file, or a change of it that is not possible.
package struct AnimalRegisterError: Error, Equatable, Sendable {
    /// A kind of error.
    package enum Problem: Error, Equatable, Sendable {
        /// The line is not UTF-8.
        case notText
        /// The file has, or would have, more bytes than are read.
        case tooLong(byteLimit: Int)
        /// The line is neither `key = value`, nor a section, nor a comment.
        case notAnAssignment(String)
        /// There is no such section.
        case unknownSection(String)
        /// There is no such key.
        case unknownKey(String)
        /// The key is above the first animal.
        case keyWithoutAnimal(String)
        /// The animal has a value of this key already, from line `line`.
        case repeatedKey(String, line: Int)
        /// There is an animal of this name already, at line `line`.
        case repeatedAnimal(String, line: Int)
        /// The name, or the value of a key, cannot be used.
        case wrongText(String, of: TextKind, TextFault)
        /// The text is not the id of a collar.
        case wrongCollar(String)
        /// The text is not `ID [from TIME] [until TIME]`.
        case wrongWearing(String)
        /// The text is neither a date nor a time.
        case wrongTime(String)
        /// A collar is not worn at any time: the end is not after the begin.
        case endBeforeBegin
        /// Another line puts the collar on an animal at the same time.
        case worn(deviceID: UInt64, by: String, line: Int)
        /// There is no animal of this name.
        case unknownAnimal(String)
        /// What is to end is not: neither the animal nor the collar has a deployment without an end.
        case nothingToEnd
        /// The animal wears several collars.
        case severalCollars([UInt64])
    }

    /// A text that a person chooses.
    package enum TextKind: String, Sendable {
        /// The name of an animal.
        case name
        /// The name of its species.
        case species
        /// The notes on it.
        case notes
    }

    /// Why a text cannot be used.
    package enum TextFault: Equatable, Sendable {
        /// It has no character.
        case empty
        /// It has more bytes of UTF-8.
        case tooLong(byteLimit: Int)
        /// It contains a control or format character, such as a tab or a line feed.
        case controlCharacter
        /// It contains `#` at the start or after a space, where a comment begins.
        case comment
        /// It begins or ends with a space.
        case outerSpace
        /// It looks like the id of a collar.
        case collarID
    }

    /// The kind of the error.
    package let problem: Problem
    /// The line with the error, from 1; nil for a change that is not possible.
    package let line: Int?

    package init(_ problem: Problem, line: Int?) {
        self.problem = problem
        self.line = line
    }
}
