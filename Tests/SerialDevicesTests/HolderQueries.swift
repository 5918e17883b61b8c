import Glibc
import SerialDevices

/// Tests a condition again for up to two seconds. A process that another test forks holds the descriptors of this process until
/// it executes another program, and may be found first.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<100 {
        if condition() { return true }
        usleep(20_000)
    }
    return false
}

/// The holder that is named when a busy port is opened; nil if the port is not busy or no holder is named.
func holderNamed(onOpening path: String) -> ProcessHolder? {
    do throws(SerialPortError) {
        try SerialPort(opening: path).close()
        return nil
    } catch {
        if case .busy(_, let holder) = error { return holder }
        return nil
    }
}
