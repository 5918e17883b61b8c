import CheckedNumbers
import Glibc
import LinuxSystem

/// What the process uses of its machine.
struct ProcessUsage: Equatable {
    /// Processor time since the start of the process, of the program and of the system for it, in microseconds.
    var processorMicroseconds: Int64
    /// Resident memory in bytes; nil where the system does not tell it.
    var residentByteCount: Int64?

    /// The usage now.
    static var now: ProcessUsage {
        ProcessUsage(
            processorMicroseconds: MonotonicClock.microseconds(of: CLOCK_PROCESS_CPUTIME_ID), residentByteCount: residentByteCount)
    }

    private static var residentByteCount: Int64? {
        let file = unsafe open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 256)
        let count = unsafe text.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        // The second number is the count of resident pages.
        let words = String(decoding: text[..<count], as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Int64(words[1], in: .exactNumbers) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
