// A collar without hardware: 106 fixes go over a radio that loses 30 % of all frames, and each arrives once.
//
//   walk [SEED]
//
// The collar and the receiver are the real ones, in virtual time: the two minutes of the walk take a moment.
import CollarLink
import CollarLinkTesting
import FoundationEssentials
import Glibc

let session = try FlakySession(loss: 0.3, seed: CommandLine.arguments.dropFirst().first.flatMap { UInt64($0) } ?? 7)
var countOfID: [UUID: Int] = [:]
for try await fix in session.collar.fixes(.everything) {
    print("fix \(fix.sequence): \(fix.coordinate.latitude) \(fix.coordinate.longitude)")
    countOfID[fix.id, default: 0] += 1
}
let isOnce = countOfID.values.allSatisfy { $0 == 1 }
print("\(countOfID.count) of \(session.fixCount) fixes, \(isOnce ? "each once" : "some again")")
exit(isOnce && countOfID.count == session.fixCount ? 0 : 1)
