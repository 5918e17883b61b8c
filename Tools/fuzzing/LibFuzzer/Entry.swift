// The function that libFuzzer calls. libFuzzer has the main function; the environment names the target.
import FuzzCore
import Glibc

/// The target and its record, from the environment.
nonisolated(unsafe) private let run: (target: any FuzzTarget, runner: TargetRunner) = {
    func value(_ name: String) -> String {
        guard let value = unsafe getenv(name) else { preconditionFailure("Tools/fuzz sets the environment") }
        return unsafe String(cString: value)
    }
    let name = value("COLLAR_LINK_FUZZ_TARGET")
    guard let target = portableTargets().first(where: { $0.name == name }) else {
        preconditionFailure("the target is not known")
    }
    do {
        let record = try SharedRecord(path: value("COLLAR_LINK_FUZZ_RECORD"))
        return (target, TargetRunner(target, record: record, first: 0))
    } catch {
        preconditionFailure("the record cannot be used")
    }
}()

/// Runs one input.
/// - Returns: 0 if libFuzzer may keep the input, −1 if it is no input of the target.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    let (target, runner) = unsafe run
    guard count >= target.contextByteCount, count <= target.maximumByteCount else { return -1 }
    // The record says what is wrong; libFuzzer must stop.
    guard unsafe runner.run(bytes.span) else { abort() }
    return 0
}
