import CollarWire
import Testing

@testable import CollarWorld

/// The rules of the oracle for requests.
@Suite struct RequestOracleTests {
    private let oracle: Oracle
    private let collar: SimulatedCollar

    init() throws {
        let plan = WorldPlan.small(fixCount: 1)
        oracle = Oracle(plan)
        collar = SimulatedCollar(index: 0, plan: plan, address: 9)
        #expect(collar.boot(randomLogID: 4, key: nil, now: 0))
        oracle.booted(collar)
    }

    private func execute(
        _ requestID: UInt16, _ action: Command.Action = .reboot, by receiver: UInt32 = 7, of former: UInt32 = 7,
        isCertain: Bool = true, isPairingWindowOpen: Bool = false
    ) {
        oracle.executes(
            Command(requestID: requestID, receiverID: receiver, action: action), collar, isCertain: isCertain,
            formerReceiver: former, isPairingWindowOpen: isPairingWindowOpen)
    }

    private func send(_ requestID: UInt16, _ outcome: CommandResult.Outcome) throws {
        let record = try #require(oracle.current[0])
        oracle.check(CommandResult(requestID: requestID, outcome: outcome), collar, record)
    }

    @Test func aCommandTwiceIsSeen() {
        for id in 1...8 as ClosedRange<UInt16> { execute(id) }
        #expect(oracle.violation == nil)
        execute(1)
        #expect(oracle.violation?.invariant == .executedOnce)
    }

    @Test func aStrangersCommandIsSeen() {
        execute(1, .pair(receiverID: 8), by: 8, isPairingWindowOpen: true)
        execute(2, .pair(receiverID: 8), by: 8, of: 0)
        #expect(oracle.violation == nil)
        execute(3, .pair(receiverID: 8), by: 8)
        #expect(oracle.violation?.invariant == .executedOnce)
    }

    @Test func anEffectWithoutARequestIsSeen() {
        oracle.check(collar)
        #expect(oracle.violation == nil)
        execute(1, .stopTracking)
        oracle.check(collar)
        #expect(oracle.violation?.invariant == .stateFollowsRequests)
    }

    @Test func aRequestThatTheFlashMayHaveKeptMayShowOrNot() {
        execute(1, .stopTracking, isCertain: false)
        oracle.check(collar)
        #expect(oracle.violation == nil)
    }

    @Test func settingsOfALowerVersionAreSeen() {
        oracle.executes(
            Settings(direction: .update, requestID: 1, version: SettingsVersion(rawValue: 5), entries: SettingList()), collar, isCertain: true)
        #expect(oracle.violation == nil)
        oracle.executes(
            Settings(direction: .update, requestID: 2, version: SettingsVersion(rawValue: 5), entries: SettingList()), collar, isCertain: true)
        #expect(oracle.violation?.invariant == .stateFollowsRequests)
    }

    @Test func aResultThatIsNotTrueIsSeen() throws {
        execute(1)
        try send(1, .ok)
        execute(2, .locateNow)
        try send(2, .failed)
        oracle.finishes(2, .busy, collar)
        try send(2, .busy)
        try send(3, .refused)
        #expect(oracle.violation == nil)
        try send(2, .ok)
        #expect(oracle.violation?.invariant == .resultIsTrue)
    }

    @Test func anOkOfWhatWasNotExecutedIsSeen() throws {
        try send(3, .ok)
        #expect(oracle.violation?.invariant == .resultIsTrue)
    }

    @Test func aRefusalOfWhatWasExecutedIsSeen() throws {
        execute(1)
        try send(1, .refused)
        #expect(oracle.violation?.invariant == .resultIsTrue)
    }
}
