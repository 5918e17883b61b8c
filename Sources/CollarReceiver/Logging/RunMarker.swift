import CLinux
import Glibc
import LinuxSystem

/// The end of an earlier run that crashed or was killed.
package struct EndOfRun: Equatable, Sendable {
    package var processID: Int32
    /// The signal that it crashed by; nil if it was killed in a way that it could not note.
    package var signal: Int32?
}

/// The file `running` of the state directory, which is there as long as a receiver runs. If it is there at a start, the last run
/// crashed or was killed, unless the machine was started since: a power cut is no crash.
///
/// Its lines are `process=ID`, `boot=ID` with the kernel's id of this start of the machine, and after a crash `signal=NN`. If the
/// file cannot be written, no crash is noticed, and nothing else fails.
final class RunMarker {
    private let path: String
    private let descriptor: Int32
    /// How the last run ended; nil if it ended of its own accord, or with the machine.
    let previousEnd: EndOfRun?

    /// Reads what the last run has left, and makes the file again. The caller holds the lock of the state directory, so no other
    /// receiver runs there.
    init(stateDirectory: String) {
        path = stateDirectory + "/running"
        let boot = String(decoding: Self.text(of: "/proc/sys/kernel/random/boot_id"), as: UTF8.self).filter { !$0.isWhitespace }
        previousEnd = RunMarker.end(in: CaptureFields(RunMarker.text(of: path)), boot: boot)
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return }
        let line = Array("process=\(getpid())\nboot=\(boot)\n".utf8)
        _ = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        crash_note_in(descriptor)
    }

    deinit {
        guard descriptor >= 0 else { return }
        crash_note_in(-1)
        unsafe _ = unlink(path)
        close(descriptor)
    }

    /// The end of the run that has left these lines; nil if they are of another start of the machine, or none.
    static func end(in fields: CaptureFields, boot: String) -> EndOfRun? {
        guard !boot.isEmpty, fields.text("boot") == boot else { return nil }
        do throws(CaptureFields.Fault) {
            guard let processID: Int32 = try fields.number("process", in: 1 ... .max) else { return nil }
            return EndOfRun(processID: processID, signal: try fields.number("signal", in: 0...64))
        } catch { return nil }
    }

    /// The start of a small file; empty if it cannot be read.
    private static func text(of path: String) -> [UInt8] {
        SystemFiles.content(of: path, byteLimit: 256, flags: O_NOFOLLOW | O_NONBLOCK) ?? []
    }
}
