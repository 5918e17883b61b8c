import CollarARQ
import Foundation
import Testing

@testable import CollarSimulator

/// The files that a person writes for simulated days.
@Suite struct DayTextTests {
    @Test func aSpellLastsUntilTheNextOne() throws {
        let plan = try DayPlan("# a cat\n\n06:30 trees\r\n09:00 open out-of-reach # hunting\n19:00 rest roof\n")
        func at(_ time: Double) -> Surroundings { plan.surroundings(at: hours(time)) }
        #expect(at(0) == Surroundings(sky: .roof, isMoving: false) && at(6.49) == at(0))
        #expect(at(6.5) == Surroundings(sky: .trees) && at(9) == Surroundings(isInReach: false))
        #expect(at(24 + 8) == Surroundings(sky: .trees) && at(23.9) == at(0))
        #expect(plan.nextChange(after: hours(6.5)) == hours(9) && plan.nextChange(after: hours(20)) == hours(30.5))
        #expect(try DayPlan("").surroundings(at: hours(5)) == Surroundings() && DayPlan().nextChange(after: hours(1)) == nil)
    }

    @Test(arguments: [
        ("00:00 open\n24:00 roof", 2, "begins with '24:00'"), ("7:00 open", 1, "begins with '7:00'"), ("07.00 open", 1, "begins with"),
        ("\n06:00 open\n06:00 roof", 3, "is not later"), ("06:00 sunny", 1, "has the word 'sunny'"),
        ("06:00 open roof", 1, "has two words for the sky"), ("06:00 rest moving", 1, "has two words for the motion"),
    ])
    func aWrongLineIsNamed(_ text: String, _ line: Int, _ reason: String) {
        let fault = #expect(throws: LineFault.self) { try DayPlan(text) }
        #expect(fault?.line == line && fault?.reason.hasPrefix(reason) == true)
    }

    @Test func theDefaultCurrentsAreThoseOfTheHardware() throws {
        let root = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" }
        let file = try String(contentsOfFile: root + "/hardware/power/currents.txt", encoding: .utf8)
        #expect(file == CurrentTable.defaultText)
        #expect(CurrentTable.default[.gnssSearch] == 12.2 && CurrentTable.default[.gnssBackup] == 0.032)
    }

    @Test func aWrongCurrentIsNamed() throws {
        func fault(_ old: String, _ new: String) -> LineFault? {
            let text = CurrentTable.defaultText
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { $0.hasPrefix(old) ? new : String($0) }
            return #expect(throws: LineFault.self) { try CurrentTable(lines.joined(separator: "\n")) }
        }
        #expect(fault("radio_send", "radio_sent 45 mA data sheet") == LineFault(line: 7, reason: "has the unknown name 'radio_sent'"))
        #expect(fault("radio_send", "radio_send 45 uA data sheet")?.reason == "is not `radio_send VALUE mA SOURCE`")
        #expect(fault("radio_send", "radio_send 45 mA")?.reason == "is not `radio_send VALUE mA SOURCE`")
        #expect(fault("radio_send", "radio_send -1 mA data sheet")?.reason.hasPrefix("has the value '-1'") == true)
        #expect(fault("radio_send", "sleep 1 mA data sheet")?.line == 11)
        #expect(fault("radio_send", "")?.reason == "is the last, and radio_send is missing")
    }

    @Test func aBudgetIsSecondsTimesCurrents() throws {
        var statistics = DayStatistics()
        statistics.microseconds = 2 * DayPlan.dayMicroseconds
        statistics[.searching] = 7_200_000_000
        statistics[.tracking] = 3_600_000_000
        statistics.cyclicMicroseconds = 3_600_000_000
        statistics[.backup] = 3_600_000_000_000
        statistics[.probe].sendingMicroseconds = 3_600_000_000
        statistics[.probe].listeningMicroseconds = 7_200_000_000
        let budget = PowerBudget(statistics, .default, capacity: 600)
        func isNear(_ value: Double, _ expected: Double) -> Bool { abs(value - expected) < 1e-6 }
        // Half of: two hours of search and one of cyclic tracking.
        #expect(isNear(budget[.gnss], (2 * 12.2 + 7) / 2) && isNear(budget[.backup], 16) && isNear(budget[.probes], (45 + 2 * 5.3) / 2))
        #expect(isNear(budget[.processor], 1.5) && isNear(budget[.sleep], 0.384) && isNear(budget[.selfDischarge], 1))
        #expect(budget[.fixes] == 0 && isNear(budget.days, 480 / budget.total))
    }
}
