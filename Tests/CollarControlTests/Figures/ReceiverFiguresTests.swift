import CollarFormats
import Testing

@testable import CollarControl

@Suite("Radios in the line of figures")
struct ReceiverFiguresTests {
    private func figures(_ radios: [RadioFigures]) -> ReceiverFigures {
        var figures = ReceiverFigures()
        figures.radios = radios
        return figures
    }

    @Test("every state survives the line", arguments: RadioFigures.State.allCases)
    func state(state: RadioFigures.State) {
        let figures = figures([RadioFigures(port: "/dev/ttyUSB0", state: state)])
        #expect(ReceiverFigures(line: figures.line(unixMilliseconds: 0)) == figures)
    }

    @Test("port, dialect and order survive the line")
    func values() {
        let figures = figures([
            RadioFigures(port: "tcp://[::1]:4001", state: .connecting),
            RadioFigures(port: "/dev/serial/by-id/\"x\"\\", state: .open, dialect: "rnode", isAirtimeShort: true),
        ])
        #expect(ReceiverFigures(line: figures.line(unixMilliseconds: 0))?.radios == figures.radios)
    }

    @Test("a radio of a state that is not known is left out: the receiver may be of a later version")
    func laterState() {
        let line = #"{"type":"figures","radios":[{"port":"a","state":"later","dialect":null},{"port":"b","state":"open"}],"collars":[]}"#
        #expect(ReceiverFigures(line: line.utf8)?.radios == [RadioFigures(port: "b", state: .open)])
    }

    @Test("the line of an earlier receiver has no radios")
    func earlierReceiver() {
        #expect(ReceiverFigures(line: #"{"type":"figures","collars":[]}"#.utf8)?.radios == [])
    }
}
