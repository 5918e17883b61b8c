import CollarErrors
import CollarFormats
import CollarWire

/// An error in the animals file, or a change of it that is not possible.
package struct AnimalRegisterError: Error, Equatable, Sendable {
    package enum Problem: Error, Equatable, Sendable {
        /// The line is not UTF-8.
        case notText
        /// The file has, or would have, more bytes than are read.
        case tooLong(byteLimit: Int)
        /// The line is neither `key = value`, nor a section, nor a comment.
        case notAnAssignment(String)
        case unknownSection(String)
        case unknownKey(String)
        case keyWithoutAnimal(String)
        case repeatedKey(String, line: Int)
        case repeatedAnimal(String, line: Int)
        /// The name, or the value of a key, cannot be used.
        case wrongText(String, of: TextKind, TextFault)
        case wrongCollar(String)
        /// The text is not `ID [from TIME] [until TIME]`.
        case wrongWearing(String)
        case wrongTime(String)
        /// A collar is not worn at any time: the end is not after the begin.
        case endBeforeBegin
        /// Another line puts the collar on an animal at the same time.
        case worn(deviceID: DeviceID, by: String, line: Int)
        case unknownAnimal(String)
        /// Neither the animal nor the collar has a deployment without an end.
        case nothingToEnd
        case severalCollars([DeviceID])
    }

    /// A text that a person chooses.
    package enum TextKind: String, Sendable {
        case name
        case species
        case notes
    }

    package enum TextFault: Equatable, Sendable {
        case empty
        case tooLong(byteLimit: Int)
        /// It contains a control or format character, such as a tab or a line feed.
        case controlCharacter
        /// It contains `#` at the start or after a space, where a comment begins.
        case comment
        /// It begins or ends with a space.
        case outerSpace
        case collarID
    }

    package let problem: Problem
    /// The line with the error, from 1; nil for a change that is not possible.
    package let line: Int?

    package init(_ problem: Problem, line: Int?) {
        self.problem = problem
        self.line = line
    }
}

extension AnimalRegisterError {
    fileprivate var code: ErrorCode? { line == nil ? nil : .animalsUnusable }

    /// The error, for a person.
    package func message(path: String) -> UserMessage {
        let (reason, remedy) = problem.words(path: path, isInLine: line != nil)
        return UserMessage(code, line.map { "\(path), line \($0): \(reason.asClause)" } ?? reason, remedy)
    }
}

extension AnimalRegisterError.Problem {
    fileprivate func words(path: String, isInLine: Bool) -> (reason: String, remedy: String) {
        let form = "An animal is '[animal NAME]' and, below it, lines with the keys species, notes and wears; '#' begins a comment."
        let keepOne = "Keep one of the two lines, or give another name."
        return switch self {
        case .notText: ("The line is not UTF-8.", "Write the file in UTF-8.")
        case .tooLong(let byteLimit): ("\(isInLine ? "The file" : path) has more than \(byteLimit) bytes.", "Remove animals that are no longer of interest.")
        case .notAnAssignment(let line): ("'\(line)' is neither '[animal NAME]' nor 'key = value'.", form)
        case .unknownSection(let section): ("'\(section)' is no section of this file.", form)
        case .unknownKey(let key): ("There is no key '\(key)'.", form)
        case .keyWithoutAnimal(let key): ("\(key) stands above the first animal.", form)
        case .repeatedKey(let key, let line): ("\(key) has a value already, from line \(line).", keepOne)
        case .repeatedAnimal(let name, let line): ("There is an animal \(name) already, at line \(line) of \(path).", keepOne)
        case .wrongText(let text, let kind, let fault): (
            "The \(kind.rawValue) '\(text)' \(fault.text).",
            fault == .collarID
                ? "Choose a \(kind.rawValue) with other characters than a collar's id." : "Choose another \(kind.rawValue).")
        case .wrongCollar(let text): (
            "'\(text)' is not the id of a collar: an id is \(CollarID.form).", "The lines of `collar-link history` have it as \"collar\".")
        case .wrongWearing(let text): (
            "'\(text)' does not tell a collar and when it is worn.", "Write 'wears = ID', then 'from TIME', 'until TIME', both or neither.")
        case .wrongTime(let text): ("'\(text)' is no time.", "A time is \(CalendarTime.forms).")
        case .endBeforeBegin: (
            "The collar is not worn at all: its end is not later than its begin.",
            "Give as 'until' the first instant at which the collar is not worn any more.")
        case .worn(let deviceID, let name, let line): (
            "Line \(line) of \(path) puts \(collarName(deviceID)) on \(name) at the same time.",
            "End the one where the other begins: '… until TIME'.")
        case .unknownAnimal(let name): ("There is no animal \(name) in \(path).", "`collar-link name` lists the animals.")
        case .nothingToEnd: (
            "There is nothing to end: no collar is worn, or its end is set already.",
            "`collar-link name` lists who wears what; set another end with `collar-link name ID NAME --until TIME`.")
        case .severalCollars(let collars): (
            "The animal wears \(collars.count) collars: \(collars.map { "\($0)" }.joined(separator: ", ")).",
            "Name the collar by its id.")
        }
    }
}

extension AnimalRegisterError.TextFault {
    fileprivate var text: String {
        switch self {
        case .empty: "is empty"
        case .tooLong(let byteLimit): "has more than \(byteLimit) bytes"
        case .controlCharacter: "has a control or format character"
        case .comment: "has a '#' where a comment begins"
        case .outerSpace: "begins or ends with a space"
        case .collarID: "looks like the id of a collar"
        }
    }
}
