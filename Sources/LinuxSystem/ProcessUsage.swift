import CheckedNumbers
import Glibc

/// Processor time and memory of the process.
package struct ProcessUsage: Equatable, Sendable {
    /// Processor time since the start of the process, of the program and of the system for it, in microseconds.
    package var processorMicroseconds: Int64
    /// Resident memory in bytes; nil where the system does not tell it.
    package var residentByteCount: Int64?

    package init(processorMicroseconds: Int64, residentByteCount: Int64?) {
        self.processorMicroseconds = processorMicroseconds
        self.residentByteCount = residentByteCount
    }

    package static var now: ProcessUsage {
        ProcessUsage(
            processorMicroseconds: MonotonicClock.microseconds(of: CLOCK_PROCESS_CPUTIME_ID), residentByteCount: residentByteCount)
    }

    private static var residentByteCount: Int64? {
        // The second number is the count of resident pages.
        let words = SystemFiles.firstLine(of: "/proc/self/statm")?.split(separator: " ") ?? []
        guard words.count > 1, let pages = Int64(words[1], in: .exactNumbers) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
