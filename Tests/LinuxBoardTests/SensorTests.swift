import CollarARQ
import CollarFirmware
import Glibc
import LinuxSystem
import Testing

@testable import LinuxBoard

@Suite struct BatteryGaugeTests {
    @Test func aCommandPrintsPercentMillivoltsAndDegrees() {
        #expect(BatteryReading("61\n") == BatteryReading(percent: 61))
        #expect(BatteryReading(" 100  4200\n") == BatteryReading(percent: 100, millivolts: 4200))
        #expect(BatteryReading("0 0 -127") == BatteryReading(percent: 0, millivolts: 0, celsius: -127))
    }

    @Test(arguments: ["", "x", "101", "-1", "50 8191", "50 x", "50 3700 128", "50 3700 20 1", "50.5"])
    func anythingElseIsNoReading(text: String) { #expect(BatteryReading(text) == nil) }

    private func read(_ gauge: inout BatteryGauge, at seconds: Int64 = 0) -> BatteryReading {
        gauge.read(at: Instant(microseconds: seconds * 1_000_000))
    }

    /// Reads until the command has ended.
    private func reading(_ gauge: inout BatteryGauge, at seconds: Int64 = 0) -> BatteryReading {
        let now = Instant(microseconds: seconds * 1_000_000)
        for _ in 0..<500 {
            _ = gauge.read(at: now)
            usleep(2000)
            let reading = gauge.read(at: now)
            if reading.percent != nil || gauge.hasFailed { return reading }
        }
        return BatteryReading()
    }

    @Test func theCommandRunsOnceAMinuteAndAFailureIsNoted() throws {
        let file = TemporaryFile()
        var gauge = BatteryGauge(command: "echo >>\(file.path); test $(wc -l <\(file.path)) -lt 3 && echo 40 || echo none")
        #expect(reading(&gauge) == BatteryReading(percent: 40))
        #expect(reading(&gauge, at: 59) == BatteryReading(percent: 40))
        #expect(SystemFiles.content(of: file.path)?.count == 1)
        _ = read(&gauge, at: 60)
        usleep(200_000)
        #expect(read(&gauge, at: 61) == BatteryReading(percent: 40))
        #expect(SystemFiles.content(of: file.path)?.count == 2)
        _ = read(&gauge, at: 130)
        usleep(200_000)
        #expect(read(&gauge, at: 131) == BatteryReading())
        #expect(gauge.hasFailed)
    }

    @Test func theFirstBatteryOfTheKernelCounts() throws {
        let folder = TemporaryFile()
        func supply(_ name: String, _ values: [String: String]) {
            unsafe mkdir(folder.path, 0o700)
            unsafe mkdir("\(folder.path)/\(name)", 0o700)
            for (file, text) in values {
                let descriptor = unsafe open("\(folder.path)/\(name)/\(file)", O_WRONLY | O_CREAT, 0o600)
                _ = SystemFiles.write(Array("\(text)\n".utf8), to: descriptor)
                close(descriptor)
            }
        }
        var gauge = BatteryGauge(command: nil, directory: folder.path)
        #expect(read(&gauge) == BatteryReading())
        supply("AC", ["type": "Mains", "online": "1"])
        supply("A0", ["type": "Battery", "scope": "Device", "capacity": "5"])
        supply("BAT0", ["type": "Battery", "capacity": "83", "voltage_now": "3912345", "temp": "-45"])
        #expect(read(&gauge) == BatteryReading(percent: 83, millivolts: 3912, celsius: -4))
        supply("BAT0", ["voltage_now": "99000000"])
        #expect(read(&gauge) == BatteryReading(percent: 83, celsius: -4))
        #expect(!gauge.hasFailed)
    }
}

@Suite struct ButtonTests {
    private func isPressed(_ button: inout Button) -> Bool { button.isPressed(at: Instant(microseconds: 0)) }

    private func presses(_ button: inout Button, until end: Int64) -> [ButtonDecoder.Press] {
        var decoder = ButtonDecoder()
        var found: [ButtonDecoder.Press] = []
        for milliseconds in stride(from: 0 as Int64, through: end, by: 50) {
            let now = Instant(microseconds: milliseconds * 1000)
            if let press = decoder.update(isPressed: button.isPressed(at: now), now: now) { found.append(press) }
        }
        return found
    }

    @Test func aSignalPressesForAsLongAsThePressTakes() throws {
        var button = try Button(path: nil)
        #expect(presses(&button, until: 5000) == [])
        button.press(.short, at: Instant(microseconds: 0))
        // The program must see it at once.
        #expect(button.nextDeadline(at: Instant(microseconds: 0)) == Instant(microseconds: 0))
        let isPressed = button.isPressed(at: Instant(microseconds: 0))
        #expect(isPressed && button.nextDeadline(at: Instant(microseconds: 0)) == Instant(microseconds: 200_000))
        #expect(presses(&button, until: 5000) == [.short])
        #expect(button.nextDeadline(at: Instant(microseconds: 5_000_000)) == nil)
        button.press(.long, at: Instant(microseconds: 0))
        #expect(presses(&button, until: 5000) == [.long])
    }

    /// The decoder takes two short presses within a second for a double one.
    @Test func twoSignalsAtOnceAreADoublePress() throws {
        var button = try Button(path: nil)
        button.press(.short, at: Instant(microseconds: 0))
        button.press(.short, at: Instant(microseconds: 0))
        #expect(presses(&button, until: 5000) == [.short, .double])
    }

    /// The program slept, and looks when the press would be over.
    @Test func aPressThatIsSeenLateTakesItsWholeTime() throws {
        var button = try Button(path: nil)
        button.press(.long, at: Instant(microseconds: 0))
        let isPressedAtLast = button.isPressed(at: Instant(microseconds: 10_000_000))
        #expect(isPressedAtLast && button.nextDeadline(at: Instant(microseconds: 10_000_000)) == Instant(microseconds: 13_200_000))
        let atTheEnd = [13_199_999, 13_200_000].map { button.isPressed(at: Instant(microseconds: $0)) }
        #expect(atTheEnd == [true, false])
    }

    /// Key 28 goes down, repeats and goes up; other events do not count.
    @Test func theKeysOfAnInputDeviceAreTheButton() throws {
        var ends: [Int32] = [0, 0]
        let file = TemporaryFile()
        try #require(unsafe mkfifo(file.path, 0o600) == 0)
        var button = try Button(path: file.path)
        ends[1] = unsafe open(file.path, O_WRONLY | O_NONBLOCK)
        defer { close(ends[1]) }
        func event(type: UInt8, code: UInt8, value: UInt8) {
            let bytes = [UInt8](repeating: 7, count: 2 * MemoryLayout<Int>.size) + [type, 0, code, 0, value, 0, 0, 0]
            #expect(SystemFiles.write(bytes, to: ends[1]))
        }
        #expect(!isPressed(&button))
        event(type: 4, code: 4, value: 1)
        #expect(!isPressed(&button))
        event(type: 1, code: 28, value: 1)
        event(type: 1, code: 30, value: 1)
        #expect(isPressed(&button))
        event(type: 1, code: 28, value: 2)
        event(type: 1, code: 28, value: 0)
        #expect(isPressed(&button))
        event(type: 1, code: 30, value: 0)
        #expect(!isPressed(&button))
    }

    @Test func aMissingDeviceIsAnError() {
        #expect(throws: SystemError(operation: "open", errno: ENOENT)) { try Button(path: TemporaryFile().path) }
    }
}
