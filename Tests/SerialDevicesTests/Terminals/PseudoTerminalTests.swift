import LinuxSystem
import SerialDevices
import Testing

/// A serial port on a pseudo-terminal, seen from the program and from the radio.
@Suite struct PseudoTerminalTests {
    @Test func everyByteValuePassesUnchangedBothWays() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        let all = [UInt8](0...255)

        #expect(radio.write(all.span) == .written(256))
        #expect(try received(256, read: port.read(into:)) == all)

        #expect(port.write(all.span) == .written(256))
        #expect(try received(256, read: radio.read(into:)) == all)
        // An echo would have arrived by now.
        var rest = [UInt8](repeating: 0, count: 16)
        #expect(port.read(into: &rest) == .wouldBlock)
    }

    @Test func bytesPassUnchangedToAProgramThatSetsNothing() throws {
        let radio = try PseudoTerminal()
        // ``SerialPort`` sets raw mode itself. A program that does not must find the terminal raw already.
        let descriptor = try openedPlainly(radio.path)
        defer { closePlainly(descriptor) }
        let special: [UInt8] = [0x00, 0x03, 0x04, 0x0A, 0x0D, 0x11, 0x13, 0x1A, 0x1C, 0x7F, 0xFF]

        #expect(radio.write(special.span) == .written(special.count))
        #expect(try received(special.count) { readPlainly(descriptor, &$0) } == special)
        var echo = [UInt8](repeating: 0, count: 16)
        #expect(radio.read(into: &echo) == .wouldBlock)
    }

    @Test func rawModeOutlivesTheLastProgram() throws {
        let radio = try PseudoTerminal()
        for _ in 0..<3 {
            let descriptor = try openedPlainly(radio.path)
            #expect(radio.write([0x0D, 0x03].span) == .written(2))
            #expect(try received(2) { readPlainly(descriptor, &$0) } == [0x0D, 0x03])
            closePlainly(descriptor)
        }
    }

    @Test func peerIsSeenToComeAndGo() throws {
        let radio = try PseudoTerminal()
        #expect(!radio.hasPeer)
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(radio.read(into: &buffer) == .disconnected)
        #expect(radio.write([1].span) == .disconnected)

        let port = try SerialPort(opening: radio.path)
        #expect(radio.hasPeer)
        #expect(radio.read(into: &buffer) == .wouldBlock)
        // The byte that was written while nobody had the port open was dropped.
        #expect(port.read(into: &buffer) == .wouldBlock)

        port.close()
        #expect(!radio.hasPeer)
        #expect(radio.read(into: &buffer) == .disconnected)
    }

    @Test func whatWasWrittenBeforeClosingIsStillRead() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        #expect(port.write([7, 8].span) == .written(2))
        port.close()
        #expect(try received(2, read: radio.read(into:)) == [7, 8])
    }

    @Test func unpluggingIsSeenByReadsAndWrites() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        radio.close()
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(port.read(into: &buffer) == .disconnected)
        #expect(port.write([1].span) == .disconnected)
        #expect(!radio.hasPeer)
    }

    @Test func aFullQueueTakesNoMore() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        let block = [UInt8](repeating: 0x55, count: 4_096)
        var taken = 0
        var last = port.write(block.span)
        while case .written(let count) = last, taken < 1_000_000 {
            taken += count
            last = port.write(block.span)
        }
        #expect(last == .wouldBlock)
        #expect(port.write([UInt8]().span) == .written(0))
    }

    @Test func closingTwiceIsHarmless() throws {
        let radio = try PseudoTerminal()
        let port = try SerialPort(opening: radio.path)
        port.close()
        port.close()
        #expect(port.fileDescriptor == -1)
        radio.close()
        radio.close()
        #expect(radio.fileDescriptor == -1)
    }
}

/// The lasting name of a pseudo-terminal.
@Suite struct PortLinkTests {
    @Test func aLinkThatAnotherProgramTookOverStays() throws {
        let directory = try TemporaryDirectory()
        let link = PortLink(path: "\(directory.path)/collar")
        let terminals = try [PseudoTerminal(), PseudoTerminal()]
        try link.point(to: terminals[0].path)
        try link.point(to: terminals[1].path)
        link.remove(from: terminals[0].path)
        #expect(SystemFiles.linkTarget(link.path) == terminals[1].path)
        link.remove(from: terminals[1].path)
        #expect(SystemFiles.linkTarget(link.path) == nil)
    }
}
