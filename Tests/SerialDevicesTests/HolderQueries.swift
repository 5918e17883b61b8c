import Glibc
import SerialDevices

/// Asks again for two seconds: a process that another test forks holds this one's descriptors until it becomes another
/// program, and may be found first.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<100 {
        if condition() { return true }
        usleep(20_000)
    }
    return false
}

/// Who is named when a busy port is opened; nil where it is not busy or nobody is named.
func holderNamed(onOpening path: String) -> ProcessHolder? {
    do throws(SerialPortError) {
        try SerialPort(opening: path).close()
        return nil
    } catch {
        if case .busy(_, let holder) = error { return holder }
        return nil
    }
}
