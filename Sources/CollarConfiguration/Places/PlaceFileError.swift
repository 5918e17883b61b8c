import CollarErrors
import CollarFormats

/// An error in a places file.
package struct PlaceFileError: Error, Equatable, Sendable {
    package enum Problem: Error, Equatable, Sendable {
        /// The line is not UTF-8.
        case notText
        case tooLong(byteLimit: Int)
        /// The line is neither `key = value`, nor a section, nor a comment.
        case notAnAssignment(String)
        case unknownSection(String)
        case wrongName(String)
        case repeatedPlace(String, line: Int)
        case unknownKey(String, keys: [String])
        case repeatedKey(String, line: Int)
        case repeatedAlerts(line: Int)
        case unknownAlertKey(String, keys: [String])
        case wrongDistance(String)
        case wrongSilence(String)
        case wrongQuietHours(String)
        case keyWithoutPlace(String)
        case wrongPosition(String)
        case wrongRadius(String)
        case wrongChoice(String)
        /// The place has neither a centre with a radius nor an area, or both.
        case noShape(String)
        /// The file of an area cannot be read.
        case unreadableArea(path: String, reason: String)
        /// The file of an area is no JSON.
        case noJSON(path: String, JSONSyntaxError)
        /// The file of an area is JSON, but no polygons.
        case noPolygons(path: String, AreaFileProblem)
    }

    package let problem: Problem
    /// The line with the error, from 1.
    package let line: Int

    package init(_ problem: Problem, line: Int) {
        self.problem = problem
        self.line = line
    }

    /// The error, for a person.
    package func message(path: String) -> UserMessage {
        let (reason, remedy) = problem.words
        return UserMessage(.placesUnusable, "\(path), line \(line): \(reason.asClause)", remedy)
    }
}

extension PlaceFileError.Problem {
    /// The file of an area, where that file is wrong.
    var areaPath: String? {
        switch self {
        case .unreadableArea(let path, _), .noJSON(let path, _), .noPolygons(let path, _): path
        default: nil
        }
    }

    fileprivate var words: (reason: String, remedy: String) {
        let form = "A place is '[place NAME]' and, below it, lines with the keys at and radius, or area; '#' begins a comment."
        return switch self {
        case .notText: ("The line is not UTF-8.", "Write the file in UTF-8.")
        case .tooLong(let byteLimit): ("The file has more than \(byteLimit) bytes.", "Put large areas into files of their own.")
        case .notAnAssignment(let line): ("'\(line)' is neither '[place NAME]' nor 'key = value'.", form)
        case .unknownSection(let section): ("'\(section)' is no section of this file.", form)
        case .wrongName(let name): ("'\(name)' is no name of a place.", "A name has 1 to \(PlaceFile.nameByteLimit) bytes and no control character.")
        case .repeatedPlace(let name, let line): ("There is a place \(name) already, at line \(line).", "Give one of the two another name.")
        case .unknownKey(let key, let keys): ("There is no key '\(key)'.\(Suggestion.text(for: key, among: keys))", form)
        case .repeatedKey(let key, let line): ("\(key) has a value already, from line \(line).", "Keep one of the two lines.")
        case .repeatedAlerts(let line): ("There is a section [alerts] already, at line \(line).", "Keep one of the two sections.")
        case .unknownAlertKey(let key, let keys):
            ("[alerts] has no key '\(key)'.\(Suggestion.text(for: key, among: keys))", "Its keys are \(keys.joined(separator: ", ")).")
        case .wrongDistance(let text): ("'\(text)' is no distance.", "Write a number of metres from 1 to 6000000.")
        case .wrongSilence(let text): ("'\(text)' is no time.", "Write minutes, hours or days from 1m to 365d, such as 'silent = 2h', or off.")
        case .wrongQuietHours(let text): ("'\(text)' is no part of a day.", "Write two local times, such as 'quiet = 22:00-07:00'.")
        case .keyWithoutPlace(let key): ("\(key) stands above the first place.", form)
        case .wrongPosition(let text): ("'\(text)' is no position.", "Write latitude and longitude in degrees, such as 'at = 50.1703 -5.1140'.")
        case .wrongRadius(let text): ("'\(text)' is no radius.", "Write a number of metres from 1 to 6000000.")
        case .wrongChoice(let text): ("private is yes or no, not '\(text)'.", "Write 'private = yes' to hide the positions in the place.")
        case .noShape(let name): ("\(name) needs either at and radius, or area.", "Write where the place is: 'at = LATITUDE LONGITUDE' and 'radius = METRES', or 'area = FILE'.")
        case .unreadableArea(let path, let reason): ("\(path) cannot be read: \(reason).", "Name a file of GeoJSON that this user may read.")
        case .noJSON(let path, let error): ("\(path) is no JSON: at byte \(error.byteOffset): \(error.problem).", "Export the area as GeoJSON again.")
        case .noPolygons(let path, let problem): ("\(path) \(problem.text).", "Draw the area as a polygon, and export it as GeoJSON.")
        }
    }
}

extension AreaFileProblem {
    fileprivate var text: String {
        switch self {
        case .noGeometry: "has no Polygon or MultiPolygon"
        case .wrongPosition: "has a position that is not [longitude, latitude] in degrees"
        case .openRing: "has a ring that does not end where it begins, or has fewer than four positions"
        case .tooWide: "has a ring that surrounds a pole, or spans half of the Earth"
        }
    }
}
