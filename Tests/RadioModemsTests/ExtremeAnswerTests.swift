import CollarARQ
import Testing

@testable import RadioModems

/// Answers of sticks with numbers that are too large for arithmetic.
@Suite struct ExtremeAnswerTests {
    private static let settings = RadioSettings(
        frequencyHertz: 869_525_000, bandwidthHertz: 125_000, spreadingFactor: 7, codingRateDenominator: 5, powerDBm: 14)

    private static func answer(_ command: UInt8, _ data: [UInt8] = []) -> [UInt8] { [command | MeshCoreCommand.answerBit] + data }

    /// Airtimes with the right difference, so that only their size is wrong: they would be airtime that the region's budget counts.
    @Test func airtimesOfDays() {
        var setup = MeshCoreSetup(Self.settings)
        let held = [UInt8].littleEndian(Self.settings.frequencyHertz) + .littleEndian(Self.settings.bandwidthHertz) + [7, 5]
        let answers = [
            Self.answer(MeshCoreCommand.ping), Self.answer(MeshCoreCommand.getName), Self.answer(MeshCoreCommand.getVersion),
            Self.answer(MeshCoreCommand.getRadio, held), [MeshCoreCommand.ok],
        ]
        for answer in answers { #expect(setup.take(answer) == .next) }
        #expect(setup.step == .shortAirtime)
        let result = setup.take(Self.answer(MeshCoreCommand.getAirtime, .littleEndian(4_000_000_000)))
        guard case .refused(.airtime, _, 4_000_000_000) = result else {
            Issue.record("\(result)")
            return
        }
    }
}
