import CollarFormats
import CollarErrors
import CollarJournal
import CollarLink
import CollarPorts
import CollarReceiver
import FoundationEssentials
import Glibc
import LinuxSystem
import Testing

@testable import SerialDevices

/// The conversion of errors of any kind to ``UserFacingError``.
@Suite struct UserFacingErrorTests {
    private struct Other: Error, CustomStringConvertible { var description: String }

    @Test func errorsOfTheLibraryKeepTheirWords() throws {
        let error = try #require(UserFacingError.from(SerialPortError.busy(path: "/dev/ttyUSB0", holder: nil)))
        #expect(error.code == .deviceInUse)
        #expect(error.errorDescription == "Radio in use")
        #expect(error.failureReason == "/dev/ttyUSB0 is in use by another program.")
        #expect(error.recoverySuggestion?.contains("fuser") == true)
        #expect(error.severity == .critical && error.isRetryable)
        #expect(UserFacingError.from(error) == error)
        #expect(UserFacingError.from(JournalError.noReceiver(path: "/x"))?.code == .noReceiver)
        #expect(UserFacingError.from(ReceiverError.noDevice(path: nil))?.code == .noDevice)
        #expect(UserFacingError(ReceiverNotice.port(path: "/x", .opened(node: nil)).message) == nil)
        #expect(UserFacingError(ReceiverNotice.cannotSend(path: "/x").message)?.code == .messageSendFailed)
    }

    /// "Permission denied" must not appear as "not found".
    @Test func errorNumbers() {
        let codes: [(Int32, ErrorCode)] = [
            (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EBUSY, .deviceInUse), (ENODEV, .noDevice),
            (ENOSPC, .storageFailing), (EROFS, .storageFailing), (ETIMEDOUT, .sessionTimeout), (EDOM, .unknown),
        ]
        for (number, code) in codes {
            #expect(UserFacingError.from(SystemError(operation: "open", errno: number))?.code == code)
        }
        #expect(UserFacingError.from(POSIXError(.EACCES))?.code == .permissionDenied)
    }

    @Test func decodingAndCancellation() throws {
        #expect(UserFacingError.from(CancellationError()) == nil)
        #expect(UserFacingError.from(POSIXError(.ECANCELED)) == nil)
        do {
            _ = try JSONDecoder().decode(LocationFix.self, from: Data("{}".utf8))
            Issue.record("it was decoded")
        } catch { #expect(UserFacingError.from(error)?.code == .locationDecodingFailed) }
        do {
            _ = try TrackLineReader().fix(fromLine: "{}".utf8, lineNumber: 1)
            Issue.record("it was read")
        } catch { #expect(UserFacingError.from(error)?.code == .locationDecodingFailed) }
    }

    /// No code is guessed from the words of a description.
    @Test func otherErrorsAreUnknown() throws {
        let error = try #require(UserFacingError.from(Other(description: "open: Permission denied")))
        #expect(error == UserFacingError(.unknown, reason: "open: Permission denied"))
    }
}
