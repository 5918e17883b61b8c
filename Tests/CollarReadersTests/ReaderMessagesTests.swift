import CollarConfiguration
import CollarErrors
import CollarWire
import Glibc
import LinuxSystem
import Testing

@testable import CollarFormats
@testable import CollarJournal
@testable import CollarReaders

/// Messages of a reader to a person.
@Suite struct ReaderMessagesTests {
    @Test func errorsNameTheirCodesAndWhatToDo() {
        let missing = ReaderError.watch(path: "/s", errorNumber: ENOENT).message
        #expect(missing.code == .noReceiver && missing.reason == "There is no directory /s.")
        #expect(ReaderError.watch(path: "/s", errorNumber: ENOTDIR).message == missing)
        let denied = ReaderError.watch(path: "/s", errorNumber: EACCES).message
        #expect(denied.code == .permissionDenied && denied.remedy == nil)
        #expect(denied.reason == "/s cannot be watched for changes: Permission denied.")
        for errorNumber in [ENOSPC, EMFILE] {
            let full = ReaderError.watch(path: "/s", errorNumber: errorNumber).message
            #expect(full.code == .journalUnavailable && full.remedy?.contains("max_user_watches") == true)
        }
        #expect(ReaderError.watch(path: "/s", errorNumber: EIO).message.remedy == nil)
        let command = ReaderError.command(name: "sink", errorNumber: ENOENT).message
        #expect(command.code == .commandFailed && command.reason == "'sink' cannot be started: No such file or directory.")
        #expect(ReaderError.input.message.reason == "stdin must be a pipe, a socket or a terminal.")
    }

    @Test(arguments: [
        (.exitCode(3), "failed with exit code 3"), (.signal(9), "was ended by signal 9"),
        (.notStarted(errorNumber: ENOENT), "could not be started: No such file or directory"),
    ] as [(CommandEnd, String)])
    func theEndOfACommandIsTold(end: CommandEnd, text: String) {
        #expect(end.text == text)
        #expect(ReaderError.commandFailed(name: "sink", end).message.reason == "'sink' \(text); its lines are not delivered.")
        let notice = FollowerNotice.commandFailed(command: "sink", end).message
        #expect(notice.reason == "'sink' \(text); it is tried again until it succeeds, and nothing is lost.")
        #expect(notice.code == .commandFailed)
    }

    @Test func noticesNameWhatTheyAreAbout() throws {
        let name = try #require(ReaderName("db"))
        let collar: DeviceID = 0xA
        let notices: [(FollowerNotice, [String])] = [
            (.goesOn(name), ["Reader 'db' goes on", "readers --remove db"]), (.nothingStored(path: "/s"), ["Nothing is stored in /s yet"]),
            (.notAnID("xyz"), ["'xyz' is not the id"]),
            (.commandRecovered(command: "sink", attempts: 4), ["'sink' has succeeded, at attempt 4."]),
            (.journal(.rewritten(deviceID: collar)), ["The journal of collar 000000000000000a was cut or restored"]),
        ]
        for (notice, parts) in notices {
            let text = notice.message.reason + (notice.message.remedy ?? "")
            for part in parts { #expect(text.contains(part), "\(text)") }
            #expect(notice.message.code == nil)
        }
    }

    @Test func filtersSeeTheLevelAndTheCodeOfANotice() throws {
        let name = try #require(ReaderName("db"))
        let failure = EditedFileFault.unreadable(FileFailure(.open, "/x", errorNumber: EIO), .animalsUnusable)
        let damage = FollowerNotice.journal(.damage(deviceID: 0xA, DamageReport(segment: 2, offset: 3, byteCount: 4)))
        let marks: [(FollowerNotice, LogMark)] = [
            (.goesOn(name), LogMark(.info, .collarLocation)), (.notAnID("x"), LogMark(.info, .collarLocation)),
            (.fixesLeftOut(Omission(format: .gpx, fixCount: nil)), LogMark(.warning, .collarLocation)),
            (.fixesLeftOut(Omission(format: .gpx, fixCount: 3)), LogMark(.warning, .collarLocation)),
            (.commandFailed(command: "x", .exitCode(1)), LogMark(.commandFailed, otherwise: .crash)),
            (damage, LogMark(.journalDamaged, otherwise: .crash)), (.editedFile(failure), LogMark(.animalsUnusable, otherwise: .crash)),
        ]
        for (notice, mark) in marks { #expect(notice.mark == mark, "\(notice)") }
        #expect(damage.message.reason.hasPrefix("The journal of collar 000000000000000a is damaged in segment 2;"))
        #expect(FollowerNotice.editedFile(failure).message == failure.message)
    }

    @Test func aPositionThatIsNotStoredIsTold() {
        let error = JournalError.file(FileFailure(.open, "/s/readers/db", errorNumber: ENOSPC))
        let message = FollowerNotice.cannotStorePosition(error).message
        #expect(message.reason.hasPrefix("The position of this reader is not stored, so that lines will be repeated: "))
        #expect(message.code == error.message.code && message.remedy == error.message.remedy)
        #expect(ReaderError.positionNotStored(error).message == message)
        #expect(FollowerNotice.cannotReadEvents(error).message.reason.hasPrefix("No events follow"))
        let unreadable = FollowerNotice.journal(.unreadable(deviceID: 0xA, error)).message
        #expect(unreadable.reason.hasPrefix("The lines of collar 000000000000000a are held back"))
        #expect(unreadable.code == .journalUnreadable)
    }
}
