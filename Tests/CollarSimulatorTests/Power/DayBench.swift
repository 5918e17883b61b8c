import CollarARQ
import CollarWire

@testable import CollarSimulator

extension Setting {
    init(_ key: SettingKey, _ value: UInt32) { self.init(key: key.rawValue, value: value) }
}

extension DaySetup {
    /// A collar that makes a fix every so often, and is silent for 300 s at most.
    init(fixSeconds: UInt32, _ others: Setting..., change: (inout DaySetup) -> Void = { _ in }) {
        self.init()
        settings = [Setting(.fixIntervalMilliseconds, fixSeconds * 1000), Setting(.heartbeatSeconds, 300)] + others
        change(&self)
    }
}

extension DayPlan {
    /// Spells that begin after whole hours, and do not repeat within a simulation.
    init(_ spells: KeyValuePairs<Double, Surroundings>) {
        self.init(
            spells.map { Spell(startMicroseconds: hours($0.key).microseconds, $0.value) }, periodMicroseconds: hours(10_000).microseconds)
    }
}

/// A time after the boot.
func hours(_ hours: Double) -> Instant { Instant(microseconds: Int64(hours * 3.6e9)) }

extension Int64 {
    /// Microseconds as seconds.
    var seconds: Double { Double(self) / 1e6 }
}
