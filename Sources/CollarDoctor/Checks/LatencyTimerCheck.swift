import CheckedNumbers
import SerialDevices

/// Whether an FTDI adapter collects bytes although the receiver, which turns that off when it opens the port, has it open.
package enum LatencyTimerCheck {
    package static func findings(_ examination: Examination) -> [Finding] {
        let machine = examination.machine
        return examination.ports.compactMap { port in
            guard let device = port.device else { return nil }
            // The terminal is two directories below the port of the adapter: `…/ttyUSB0/tty/ttyUSB0`.
            let place = device.sysPath.split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/latency_timer"
            guard let milliseconds = machine.firstLine(of: place).flatMap({ Int($0, in: 2...255) }),
                let holder = machine.holder(of: port.node), holder.processID == examination.receiverProcessID
            else { return nil }
            return .latencyTimer(port.path, place: place, milliseconds: milliseconds, sudo: examination.sudo)
        }
    }
}
