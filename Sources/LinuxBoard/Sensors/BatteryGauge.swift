import CheckedNumbers
import CollarARQ
import CollarFirmware
import Glibc
import LinuxSystem

/// The battery of the machine: of `/sys/class/power_supply`, or as a command tells it.
struct BatteryGauge {
    /// Time between two runs of the command, in microseconds.
    private static let interval: Int64 = 60_000_000

    private let command: String?
    private let directory: String
    private var process: ChildProcess?
    private var due = Instant(microseconds: .min)
    /// The last reading. Nothing is known before the command has ended for the first time.
    private var reading = BatteryReading()
    /// Whether the command gave nothing that is a reading.
    private(set) var hasFailed = false

    /// - Parameter command: a command for the shell, which prints percent, and perhaps millivolts and degrees Celsius; nil to read `directory`.
    init(command: String?, directory: String = "/sys/class/power_supply") {
        self.command = command
        self.directory = directory
    }

    /// The present reading. The command runs beside the program.
    mutating func read(at now: Instant) -> BatteryReading {
        guard let command else { return BatteryGauge.reading(ofSupplyIn: directory) }
        if let end = process?.end(waits: false) {
            let text = String(decoding: process?.output ?? [], as: UTF8.self)
            process = nil
            let told = end == .exitCode(0) ? BatteryReading(text) : nil
            hasFailed = told == nil
            reading = told ?? BatteryReading()
        }
        if process == nil, now >= due {
            due = now.advanced(byMicroseconds: BatteryGauge.interval)
            process = try? ChildProcess(["sh", "-c", command], input: [], keepsOutput: true)
            if process == nil { hasFailed = true }
        }
        return reading
    }

    /// The reading of the first battery. The kernel tells microvolts and tenths of degrees (Documentation/ABI/testing/sysfs-class-power).
    private static func reading(ofSupplyIn directory: String) -> BatteryReading {
        for name in SystemFiles.entries(of: directory).sorted() {
            func line(_ file: String) -> String { SystemFiles.firstLine(of: "\(directory)/\(name)/\(file)") ?? "" }
            guard line("type") == "Battery", line("scope") != "Device" else { continue }
            return BatteryReading(
                percent: UInt8(line("capacity"), in: 0...100),
                millivolts: Int(line("voltage_now"), in: 0...8_190_999).map { UInt16($0 / 1000) },
                celsius: Int(line("temp"), in: -1270...1270).map { Int8($0 / 10) })
        }
        return BatteryReading()
    }
}

extension BatteryReading {
    /// Reads what a battery command prints: percent, 0 … 100; then, if it knows them, millivolts, 0 … 8190, and degrees Celsius, −127 …
    /// 127. Nil for anything else.
    init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard (1...3).contains(words.count), let percent = UInt8(words[0], in: 0...100) else { return nil }
        let millivolts = words.count > 1 ? UInt16(words[1], in: 0...8190) : nil
        let celsius = words.count > 2 ? Int8(words[2], in: -127...127) : nil
        guard words.count < 2 || millivolts != nil, words.count < 3 || celsius != nil else { return nil }
        self.init(percent: percent, millivolts: millivolts, celsius: celsius)
    }
}
