import CollarFormats
import CollarWire
import Testing

@testable import CollarControl

/// The line of a receiver's figures, and the request for it.
@Suite struct FiguresLineTests {
    private var full: ReceiverFigures {
        var figures = ReceiverFigures()
        for (index, figure) in ReceiverFigure.allCases.enumerated() { figures.values[figure] = Int64(index) + 100 }
        figures.errorCounts = ["radio_fault": 2, "journal_damaged": 7]
        for (place, collar) in ([0xA, 0xFFFF_FFFF_FFFF_FFFF] as [DeviceID]).enumerated() {
            for (index, figure) in CollarFigure.allCases.enumerated() {
                figures.collars[collar, default: [:]][figure] = Int64(index + 1000 * place)
            }
        }
        figures.radios = [RadioFigures(port: "/dev/a", state: .open, dialect: "kiss"), RadioFigures(port: "/dev/b", state: .gone)]
        return figures
    }

    private func read(_ text: String) -> ReceiverFigures? { ReceiverFigures(line: text.utf8) }

    @Test func everyFigureSurvivesTheLine() {
        let line = full.line(unixMilliseconds: 5)
        #expect(ReceiverFigures(line: line) == full)
        #expect(ReceiverFigures(line: line.dropLast()) == full)
        #expect(line.last == UInt8(ascii: "\n"))
    }

    @Test func eachFigureAloneSurvivesTheLine() {
        for figure in ReceiverFigure.allCases {
            var figures = ReceiverFigures()
            figures.values[figure] = 42
            #expect(ReceiverFigures(line: figures.line(unixMilliseconds: 0)) == figures)
            #expect(String(decoding: figures.line(unixMilliseconds: 0), as: UTF8.self).contains("\"\(figure.rawValue)\":42"))
        }
        for figure in CollarFigure.allCases {
            var figures = ReceiverFigures()
            figures.collars[7] = [figure: 43]
            #expect(ReceiverFigures(line: figures.line(unixMilliseconds: 0)) == figures)
        }
    }

    @Test func theLineHasItsTimeAndItsCollarsInTheirOrder() {
        var figures = ReceiverFigures()
        figures.values[.uptime] = 1
        figures.errorCounts = ["b": 2, "a": 1]
        figures.collars = [2: [.heard: 1], 1: [:]]
        #expect(
            String(decoding: figures.line(unixMilliseconds: 77), as: UTF8.self) == """
                {"type":"figures","unix_ms":77,"uptime_ms":1,"errors":{"a":1,"b":2},"collars":[{"collar":"0000000000000001"},\
                {"collar":"0000000000000002","heard":1}],"radios":[]}

                """)
    }

    @Test func membersOfALaterVersionArePassedOver() {
        let line = """
            {"type":"figures","uptime_ms":3,"moons":5,"lines":"many","errors":{"x":1,"y":"z"},\
            "collars":[{"collar":"000000000000000a","mood":1,"boots":4}],"radios":[{}]}
            """
        let figures = read(line)
        #expect(figures?.values == [.uptime: 3])
        #expect(figures?.errorCounts == ["x": 1])
        #expect(figures?.collars == [0xA: [.boots: 4]])
        #expect(figures?.radios == [])
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"type":"result"}"#,
        #"{"type":"figures","collars":[{"collar":"x"}]}"#, #"{"type":"figures","collars":[{}]}"#,
    ])
    func anotherLineIsNone(line: String) { #expect(read(line) == nil) }

    @Test func aRequestForFiguresIsToldFromOthers() throws {
        #expect(try FiguresRequest.isIn(Array(FiguresRequest.line.dropLast())))
        #expect(try FiguresRequest.isIn(Array(#"{"do":"figures"}"#.utf8)))
        for other in [#"{"do":"locate"}"#, "nonsense", "[]", "{}", #"{"do":5}"#, #"{"do":"figures","do":"figures"}"#] {
            #expect(try !FiguresRequest.isIn(Array(other.utf8)), "\(other)")
        }
        for member in [#""collar":"000000000000000a""#, #""mode":"now""#, #""type":"result""#, #""type":5"#] {
            let line = Array("{\"do\":\"figures\",\(member)}".utf8)
            #expect(throws: ControlRequest.Fault.self) { try FiguresRequest.isIn(line) }
        }
    }
}
