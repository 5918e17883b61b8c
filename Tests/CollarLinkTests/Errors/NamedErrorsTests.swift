import CollarErrors
import CollarLink
import Testing

/// The errors of the model by their names.
@Suite struct NamedErrorsTests {
    @Test func severityAndRetryingAreThoseOfTheModel() {
        let rows: [(UserFacingError, ErrorCode, ErrorCode.Severity, isRetryable: Bool)] = [
            (.permissionDenied, .permissionDenied, .critical, false),
            (.locationServicesDisabled, .locationServicesDisabled, .critical, false),
            (.poorGPSAccuracy, .poorGPSAccuracy, .info, false),
            (.locationUpdateFailed(underlyingError: "No antenna."), .locationUpdateFailed, .error, true),
            (.linkNotSupported, .linkNotSupported, .critical, false),
            (.sessionNotEstablished, .sessionNotEstablished, .warning, true),
            (.sessionTimeout, .sessionTimeout, .warning, true),
            (.collarNotReachable, .collarNotReachable, .warning, true),
            (.messageSendFailed(underlyingError: "No radio."), .messageSendFailed, .error, true),
            (.locationDecodingFailed, .locationDecodingFailed, .error, true),
            (.noLocationData, .noLocationData, .info, true),
            (.staleLocationData(age: 90), .staleLocationData, .info, true),
            (.unknown(description: "Odd."), .unknown, .error, true),
            (.deviceInUse(by: "minicom"), .deviceInUse, .critical, true),
            (.storageFailing(description: "The disk is full."), .storageFailing, .critical, true),
            (.pairedElsewhere(receiver: "0000a1b2"), .pairedElsewhere, .critical, false),
        ]
        for (error, code, severity, isRetryable) in rows {
            #expect(error.code == code && error.severity == severity && error.isRetryable == isRetryable, "\(code.rawValue)")
            #expect(error.errorDescription == code.title && error.reason.hasSuffix("."))
            #expect(error.remedy?.hasSuffix(".") ?? (code == .unknown), "\(code.rawValue)")
        }
        #expect(UserFacingError.staleLocationData(age: 90).reason == "The newest position is 90 s old.")
        #expect(UserFacingError.pairedElsewhere(receiver: "0000a1b2").reason == "The collar belongs to receiver 0000a1b2.")
        #expect(UserFacingError.deviceInUse(by: "minicom").reason == "The radio is in use by minicom.")
    }
}
