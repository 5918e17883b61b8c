import CollarErrors
import CollarHost

extension EndOfRun {
    /// The end, for a person.
    var message: UserMessage {
        guard let signal else {
            return UserMessage(
                .runCrashed, "the last run (process \(processID)) was killed; nothing that was acknowledged is lost",
                "If nobody killed it, look whether memory ran out: `sudo journalctl -k -g 'out of memory'`.")
        }
        return UserMessage(
            .runCrashed, "the last run (process \(processID)) crashed by signal \(signal); nothing that was acknowledged is lost",
            "This is a fault of collar-link: report it, with a capture (`--write FILE`) if it happens again.")
    }
}

extension HostLatencies {
    /// Counts and latencies in one line.
    func text(_ statistics: ReceiverStatistics) -> String {
        let latencies = [("fixes", fix), ("lines", line), ("answers", message)].compactMap { name, summary in
            summary.map { "\(name) \($0.averageMicroseconds / 1000) ms, 95 % within \($0.p95Microseconds / 1000) ms" }
        }
        return (["\(statistics.host.frames) frames, \(statistics.host.fixes) fixes, \(statistics.lines) lines"] + latencies)
            .joined(separator: "; ")
    }
}

extension [UInt8] {
    /// The first bytes in hexadecimal digits.
    var hexadecimalText: String {
        let digits = prefix(256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return digits.joined() + (count > digits.count ? "…" : "")
    }
}
