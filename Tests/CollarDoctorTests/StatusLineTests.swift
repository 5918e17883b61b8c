import CollarFormats
import Testing

@testable import CollarDoctor

@Suite("What a collar said about itself last")
struct StatusLineTests {
    @Test("a line of status is read, and kept as it is")
    func values() throws {
        let status = try statusLine {
            $0.isStationary = true
            $0.trackingSinceUnixSeconds = 1000
            $0.throttleState = .dutyCycle
            $0.gnssState = .searching
        }
        #expect(status.deviceID == 0x0123_4567_89AB_CDEF)
        #expect(status.unixMilliseconds == overviewTime)
        #expect(status.isTracking == true)
        #expect(status.trackingSinceUnixMilliseconds == 1_000_000)
        #expect(status.isStationary == true)
        #expect(status.throttle == "duty_cycle")
        #expect(status.gnss == "searching")
        #expect(StatusLine(status.bytes)?.bytes == status.bytes)
    }

    @Test("any other line is refused", arguments: [
        "", "{", "[]", "{}", #"{"type":"fix","collar":"0123456789abcdef"}"#, #"{"type":"status"}"#, #"{"type":"status","collar":"12"}"#,
    ])
    func otherLines(line: String) { #expect(StatusLine(line.utf8) == nil) }
}
