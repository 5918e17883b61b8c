// Prints each position of `collar-link follow`, and says which lines are none:
//
//   collar-link follow | positions
import CollarLink

let reader = TrackLineReader()
var number = 0
while let line = readLine() {
    number += 1
    do {
        let fix = try reader.fix(fromLine: line.utf8, lineNumber: number)
        let accuracy = fix.hasValidAccuracy ? "within \(fix.horizontalAccuracyMeters) m" : "of unknown accuracy"
        print("fix \(fix.sequence): \(fix.coordinate.latitude) \(fix.coordinate.longitude), \(accuracy)")
    } catch {
        guard let message = UserFacingError.from(error) else { throw error }
        print("\(message.code.title): \(message.reason)")
    }
}
