// Sends or stores great numbers of fixes:
//
//     load flood COLLARS FIXES single|batch [one-way]    prints the path of a pseudo-terminal, then sends there
//     load journal STATE-DIR FIXES                        writes a journal in which every fix counts as emitted
//
// When a flood ends, it prints two durations in seconds, both from the first byte on: until the last byte was written, and
// until everything was acknowledged. With one-way it does not wait for acknowledgements.
import CollarJournal
import CollarWire
import Glibc

/// Writes a journal of `fixCount` fixes, with a commit after every 10,000 fixes.
func writeJournal(stateDirectory: String, fixCount: UInt32) throws(JournalError) {
    let collar = LoadCollar(number: 0)
    var random = SystemRandomNumberGenerator()
    let receiver = try ReceiverIdentity.load(
        stateDirectory: stateDirectory, fileSystem: POSIXFileSystem(), random: &random)
    let journal = try Journal.open(
        stateDirectory: stateDirectory, deviceID: collar.log.deviceID, receiverID: receiver.receiverID,
        nowUnixMilliseconds: 1_700_000_000_000)
    for sequence in 0..<fixCount {
        let fix = LoadCollar.fix(sequence)
        _ = try journal.append(
            JournaledFix(logID: collar.log.logID, receivedUnixMilliseconds: fix.unixMilliseconds + 40, fix: fix))
        guard sequence % 10_000 == 9999 || sequence == fixCount - 1 else { continue }
        journal.setEmissionCursor(journal.end)
        try journal.commit()
    }
}

let words = CommandLine.arguments
switch (words.dropFirst().first, words.count) {
case ("flood", 5...6):
    guard let collarCount = Int(words[2]), let fixCount = Int(words[3]), (1...200).contains(collarCount),
        var flood = Flood(
            collarCount: collarCount, fixCount: fixCount, isBatched: words[4] == "batch", waitsForAnswers: words.count == 5)
    else { exit(64) }
    try flood.run()
case ("journal", 4):
    guard let fixCount = UInt32(words[3]) else { exit(64) }
    try writeJournal(stateDirectory: words[2], fixCount: fixCount)
default:
    print("usage: load flood COLLARS FIXES single|batch [one-way] | load journal STATE-DIR FIXES")
    exit(64)
}
