import CollarDomain
import FoundationEssentials
import Glibc
import Testing

@Suite("Errors a person sees")
struct UserFacingErrorTests {
    private static let all: [(UserFacingError, UserFacingError.Severity, Bool)] = [
        (.permissionDenied(path: "/dev/ttyUSB0", obstacle: .systemWide), .critical, false),
        (.locationServicesDisabled, .critical, false), (.poorGPSAccuracy, .info, false),
        (.locationUpdateFailed(underlyingError: "antenna"), .error, true), (.linkNotSupported, .critical, false),
        (.sessionNotEstablished, .warning, true), (.sessionTimeout, .warning, true),
        (.collarNotReachable, .warning, true), (.messageSendFailed(underlyingError: "x"), .error, true),
        (.locationDecodingFailed, .error, true), (.noLocationData, .info, true),
        (.staleLocationData(age: 61), .info, true), (.unknown(description: "y"), .error, true),
        (.deviceInUse(by: "gpsd"), .critical, true), (.storageFailing(description: "full"), .critical, true),
        (.pairedElsewhere(receiver: "ab"), .critical, false),
    ]

    @Test("Severity and retry are those of the table, and every text is there", arguments: all)
    func table(error: UserFacingError, severity: UserFacingError.Severity, isRetryable: Bool) {
        #expect(error.severity == severity)
        #expect(error.isRetryable == isRetryable)
        for text in [error.errorDescription, error.failureReason, error.recoverySuggestion] {
            #expect(text?.isEmpty == false)
        }
        #expect((error as any LocalizedError).errorDescription == error.errorDescription)
    }

    @Test("Details appear in the texts")
    func details() {
        #expect(UserFacingError.deviceInUse(by: "gpsd").failureReason == "gpsd has the port open.")
        #expect(UserFacingError.staleLocationData(age: 600).failureReason == "The latest position is 10 min old.")
        let notIn = UserFacingError.permissionDenied(
            path: "/dev/ttyUSB0", obstacle: .user(group: "dialout", isMember: false))
        let notAgain = UserFacingError.permissionDenied(
            path: "/dev/ttyUSB0", obstacle: .user(group: "dialout", isMember: true))
        let restricted = UserFacingError.permissionDenied(path: "/dev/ttyUSB0", obstacle: .restricted)
        #expect(notIn.recoverySuggestion?.contains("usermod -aG dialout") == true)
        #expect(notAgain.recoverySuggestion?.contains("newgrp dialout") == true)
        #expect(restricted.failureReason?.contains("/dev/ttyUSB0") == true)
    }

    private struct Said: Error, CustomStringConvertible { let description: String }
    private struct Own: UserFacingErrorConvertible { let userFacingError = UserFacingError.collarNotReachable }

    @Test("Our own errors and errno come first, then decoding, then the text")
    func recognition() throws {
        #expect(UserFacingError.from(UserFacingError.linkNotSupported) == .linkNotSupported)
        #expect(UserFacingError.from(Own()) == .collarNotReachable)
        #expect(
            UserFacingError.from(POSIXError(.EACCES))
                == .permissionDenied(path: "", obstacle: .user(group: nil, isMember: false)))
        let decoding = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(LocationFix.self, from: Data("{}".utf8))
        }
        #expect(UserFacingError.from(try #require(decoding)) == .locationDecodingFailed)
        let line = TrackLineError(lineNumber: 1, field: "lat", byteOffset: nil, problem: "missing")
        #expect(UserFacingError.from(line) == .locationDecodingFailed)
    }

    @Test(
        "Text is the last resort",
        arguments: [
            ("open: Permission denied", UserFacingError.permissionDenied(path: "", obstacle: .user(group: nil, isMember: false))),
            ("Collar link not supported", .linkNotSupported), ("Session is not activated", .sessionNotEstablished),
            ("Request TIMEOUT", .sessionTimeout), ("colour not supported", .unknown(description: "colour not supported")),
            ("not activated", .unknown(description: "not activated")), ("boom", .unknown(description: "boom")),
        ])
    func text(said: String, expected: UserFacingError) {
        #expect(UserFacingError.from(Said(description: said)) == expected)
    }

    @Test("errno, by what it was about")
    func systemErrors() {
        let port = UserFacingError.SystemObject.port(path: "/dev/ttyACM0")
        let storage = UserFacingError.SystemObject.storage(path: "/var/x")
        #expect(
            UserFacingError.from(errno: EACCES, on: port)
                == .permissionDenied(path: "/dev/ttyACM0", obstacle: .user(group: nil, isMember: false)))
        #expect(
            UserFacingError.from(errno: EPERM, on: storage) == .permissionDenied(path: "/var/x", obstacle: .restricted))
        #expect(UserFacingError.from(errno: EBUSY, on: port) == .deviceInUse(by: ""))
        #expect(UserFacingError.from(errno: EIO, on: port) == .collarNotReachable)
        #expect(UserFacingError.from(errno: ENOENT, on: port) == .collarNotReachable)
        #expect(UserFacingError.from(errno: EIO, on: storage) == .storageFailing(description: "Input/output error"))
        #expect(
            UserFacingError.from(errno: ENOSPC, on: storage)
                == .storageFailing(description: "No space left on device"))
        #expect(UserFacingError.from(errno: EDOM, on: .other) == .unknown(description: "Numerical argument out of domain"))
    }

    @Test("A cancellation is never shown")
    func cancellation() {
        #expect(UserFacingError.shown(CancellationError()) == nil)
        #expect(UserFacingError.shown(POSIXError(.ECANCELED)) == nil)
        #expect(UserFacingError.shown(Own()) == .collarNotReachable)
    }
}
