import CollarARQ
import CollarJournal
import CollarPorts
import LinuxSystem
import SerialDevices

/// Waits for serial ports that come and go.
package final class DeviceWatch {
    package enum Event: Equatable, Sendable {
        case changes([DeviceChange])
        /// Nothing was plugged in for a time that is long for somebody who waits for it; only once.
        case nothingCame
        /// SIGINT or SIGTERM came.
        case ended
    }

    /// Time after which ``Event/nothingCame`` is returned, in microseconds.
    private static let patience: Int64 = 10_000_000

    package private(set) var devices: [SerialDevice]
    package var source: DeviceMonitor.Source { monitor.source }
    private let monitor: DeviceMonitor
    private enum Descriptor { case signals, deviceMonitor }

    private let events: EventPoll<Descriptor>
    private let signals: SignalDescriptor
    /// When to return ``Event/nothingCame``; nil after a port came, or after that was returned.
    private var deadline: Instant?

    package init() throws(ReceiverError) {
        do throws(SystemError) { monitor = try DeviceMonitor() } catch { throw .discovery(error) }
        do throws(SystemError) {
            signals = try SignalDescriptor(SignalDescriptor.ofEnd)
            events = try EventPoll(urgent: .signals)
        } catch { throw .system(error) }
        events.watch(signals.fileDescriptor, as: .signals)
        for descriptor in monitor.fileDescriptors { events.watch(descriptor, as: .deviceMonitor) }
        devices = monitor.allSerialDevices()
        deadline = HostTime.now.instant.advanced(byMicroseconds: DeviceWatch.patience)
    }

    package func next() -> Event {
        while true {
            let wait = deadline.map { max(0, $0.microseconds(since: HostTime.now.instant)) }
            for event in events.wait(timeoutMicroseconds: wait) {
                if event.source == .signals, signals.next() != nil { return .ended }
            }
            let before = devices
            if monitor.drain() { devices = monitor.allSerialDevices() }
            let changes = DeviceChange.between(before, devices)
            if changes.contains(where: { if case .added = $0 { true } else { false } }) { deadline = nil }
            if !changes.isEmpty { return .changes(changes) }
            if let due = deadline, HostTime.now.instant >= due {
                deadline = nil
                return .nothingCame
            }
        }
    }
}
