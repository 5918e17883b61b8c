import CollarErrors
import RadioModems
import Testing

@testable import CollarConfiguration

/// Messages to a person about a stick.
@Suite struct ModemMessagesTests {
    private let port = "/dev/ttyUSB0"
    private let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 62_500, spreadingFactor: 9, codingRateDenominator: 6, powerDBm: 14)

    private static let strangers: [Stranger] = [
        .nmea, .bootloader, .meshtastic, .companion, .console, .echo, .silentKISS, .otherModem, .silent(.kiss),
        .text("hello"), .bytesWithoutFrames,
    ]

    private func reason(_ notice: ModemNotice) -> String { notice.message(port: port).reason }

    @Test func everyErrorHasItsCode() {
        let codes: [(ModemNotice, ErrorCode?)] = [
            (.settingsMissing(.kiss), .regionMissing), (.regionMissing(.kiss), .regionMissing),
            (.refused(.power, wanted: 1, actual: 2), .radioSettingRefused), (.firmwareTooOld(.rui3, version: "1"), .radioSettingRefused),
            (.packetRefused(.kiss, byteCount: 1, status: "x"), .radioFault), (.fault(.rnode, code: 1), .radioFault),
            (.notSending(.kiss), .radioNotSending), (.restarted(.kiss), .radioRestarted), (.notAnswering(.kiss), .radioNotAnswering),
            (.busy(.kiss), .radioBusy), (.queueFull(.kiss), .radioBusy),
            (.dutyCycleReached(microseconds: 1, isStart: true), .dutyCycleReached),
            (.airtimeShort(usedMicroseconds: 1, partsPerMillion: 1000, frequencyHertz: 864_000_000), .airtimeShort),
            (.dwellTimeExceeded(airtimeMicroseconds: 1, limitMicroseconds: 1), .dwellTimeExceeded), (.stranger(.nmea), .unknownRadio),
            (.found(.kiss, version: nil), nil), (.ready(.kiss, settings, turnaroundMicroseconds: 1), nil),
            (.powerReduced(wantedDBm: 1, actualDBm: 2), nil), (.powerRaised(wantedDBm: 1, actualDBm: 2), nil),
            (.amplified(board: "x", chipDBm: 1, outputDBm: 2), nil), (.boardUnknown(.rnode), nil), (.answersAgain(.kiss), nil),
        ]
        for (notice, code) in codes {
            #expect(notice.code == code, "\(notice)")
            #expect(reason(notice).hasPrefix("\(port): "))
        }
        #expect(Set(codes.map { reason($0.0) }).count == codes.count, "no two of them say the same")
    }

    @Test func theNumbersOfANoticeStandInTheirPlaces() {
        #expect(reason(.powerReduced(wantedDBm: 20, actualDBm: 14)) == "\(port): the stick sends with 14 dBm, not 20 dBm: it has no more.")
        #expect(reason(.powerRaised(wantedDBm: 2, actualDBm: 5)) == "\(port): the stick sends with 5 dBm, not 2 dBm: it has no less.")
        #expect(reason(.amplified(board: "T", chipDBm: 9, outputDBm: 22)).contains("set to 9 dBm, so that the antenna gets at most 22 dBm"))
        let dwell = ModemNotice.dwellTimeExceeded(airtimeMicroseconds: 500_000, limitMicroseconds: 400_000)
        #expect(reason(dwell).contains("a frame of 500 ms is not sent: the region allows 400 ms"))
        #expect(reason(.fault(.rnode, code: 7)) == "\(port): the RNode firmware reports fault 7.")
        #expect(reason(.found(.rui3, version: "4.1")) == "\(port): this is the RUI3 firmware (4.1).")
        #expect(reason(.found(.kiss, version: nil)) == "\(port): this is the MeshCore KISS modem.")
        let status = String(repeating: "e", count: 40)
        #expect(reason(.packetRefused(.kiss, byteCount: 51, status: status + "eeee")).hasSuffix("of 51 bytes: \(status)."))
    }

    @Test(arguments: [
        (.frequency, "frequency 5 Hz: it has 6 Hz"), (.bandwidth, "bandwidth 5 Hz: it has 6 Hz"),
        (.spreadingFactor, "spreading factor 5: it has 6"),
        (.codingRate, "coding rate 4/5: it has 4/6"), (.power, "power 5 dBm: it has 6 dBm"),
        (.preamble, "preamble 5 symbols: it has 6 symbols"),
        (.radioState, "radio state 5: it has 6"), (.mode, "mode 5: it has 6"),
    ] as [(ModemSetting, String)])
    func aRefusedSettingHasItsUnit(setting: ModemSetting, text: String) {
        #expect(reason(.refused(setting, wanted: 5, actual: 6)) == "\(port): the stick does not hold the \(text); it is not used.")
        #expect(!reason(.refused(setting, wanted: 5, actual: nil)).contains("it has"))
    }

    @Test func aRefusedAirtimeIsThatOfAFrame() {
        #expect(reason(.refused(.airtime, wanted: 300, actual: 400)).contains("199 bytes take 400 ms on the air, not 300 ms"))
    }

    @Test(arguments: [(1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2), (59_000_000, 59)] as [(Int64, Int)])
    func aWaitIsToldInWholeSeconds(microseconds: Int64, seconds: Int) {
        for isStart in [true, false] {
            #expect(reason(.dutyCycleReached(microseconds: microseconds, isStart: isStart)).hasSuffix(" can be sent in \(seconds) s."))
        }
    }

    @Test func shortAirtimeIsToldWithWhatHelps() {
        let notice = ModemNotice.airtimeShort(usedMicroseconds: 123_999_999, partsPerMillion: 1000, frequencyHertz: 864_100_000)
        #expect(reason(notice).hasPrefix("\(port): airtime runs short: answers took 123 s of the last hour, and the region allows 0.1 % of it at 864.1 MHz, which is 3 s."))
        let remedies = [notice, .dutyCycleReached(microseconds: 1, isStart: false)].map { $0.message(port: port).remedy }
        #expect(remedies[0] == remedies[1])
        #expect(remedies[0]?.contains(" settings set interval_ms=300000 stationary_interval_ms=300000` ") == true)
    }

    @Test func aCollarIsToldTheSettingsOfTheStick() {
        func remedy(_ dialect: Dialect, _ microseconds: Int64) -> String {
            ModemNotice.ready(dialect, settings, turnaroundMicroseconds: microseconds).message(port: port).remedy ?? ""
        }
        #expect(remedy(.kiss, 250_000).contains("spreading_factor=9 turnaround_ms=250 modem_header_bytes=0`"))
        #expect(remedy(.rnode, 250_001).contains("spreading_factor=9 turnaround_ms=251 modem_header_bytes=1`"))
        #expect(
            reason(.ready(.kiss, settings, turnaroundMicroseconds: 1))
                == "\(port): the radio is set to 869.525 MHz, 62.5 kHz, SF9, 4/6, 14 dBm.")
    }

    @Test func everyStrangerIsToldInItsOwnWords() {
        let messages = ModemMessagesTests.strangers.map { ModemNotice.stranger($0).message(port: port) }
        #expect(Set(messages.map(\.reason)).count == messages.count)
        for message in messages {
            #expect(message.reason.hasSuffix("; nothing is sent to it."))
            #expect(message.remedy?.isEmpty == false)
        }
        #expect(reason(.stranger(.silent(.rnode))).contains("was used with the RNode firmware before and does not answer now"))
        #expect(reason(.stranger(.text(String(repeating: "t", count: 70)))).contains("\"\(String(repeating: "t", count: 60))\""))
    }
}
