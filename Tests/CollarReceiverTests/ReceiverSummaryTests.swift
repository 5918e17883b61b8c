import CollarControl
import Testing

@testable import CollarReceiver

@Suite("The summary at the end of a run")
struct ReceiverSummaryTests {
    private func summary(
        fixes: Int64 = 0, messages: Int64 = 0, seconds: Int64 = 0, collars: [[CollarFigure: Int64]] = []
    ) -> String {
        var figures = ReceiverFigures()
        figures.values = [.fixes: fixes, .messages: messages, .uptime: seconds * 1000]
        for (id, values) in collars.enumerated() { figures.collars[UInt64(id)] = values }
        return figures.summary
    }

    @Test("it counts fixes and collars, and gives the time of the run")
    func counts() {
        #expect(
            summary(fixes: 12, seconds: 300, collars: [[.heard: 1, .missing: 0], [.heard: 1, .missing: 0]])
                == "12 fixes of 2 collars in 5 min; none missing")
    }

    @Test("one fix and one collar are singular")
    func singular() {
        #expect(summary(fixes: 1, seconds: 1, collars: [[.heard: 1, .missing: 0]]) == "1 fix of 1 collar in 1 s; none missing")
    }

    @Test("messages are counted if there are any")
    func messages() {
        #expect(summary(fixes: 2, messages: 1, collars: [[.heard: 1]]) == "2 fixes and 1 message of 1 collar in 0 s; none missing")
        #expect(summary(fixes: 2, messages: 3, collars: [[.heard: 1]]) == "2 fixes and 3 messages of 1 collar in 0 s; none missing")
    }

    @Test("the missing fixes of all collars are added up")
    func missing() {
        #expect(
            summary(fixes: 9, collars: [[.heard: 1, .missing: 3], [.heard: 1, .missing: 4]])
                == "9 fixes of 2 collars in 0 s; 7 missing, requested again in the next run")
    }

    @Test("a collar that was not heard in this run does not count, although its journal is known")
    func notHeard() {
        #expect(
            summary(fixes: 9, collars: [[.heard: 1, .missing: 0], [.heard: 0, .missing: 4], [:]])
                == "9 fixes of 1 collar in 0 s; none missing")
    }

    @Test("a run that heard nothing says so")
    func nothing() {
        #expect(summary(seconds: 60) == "0 fixes of 0 collars in 60 s; none missing")
    }
}
