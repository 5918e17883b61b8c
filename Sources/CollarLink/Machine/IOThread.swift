import CLinux
import Glibc
import LinuxSystem
import Synchronization

/// The thread on which streams read files and wait for changes. The threads of Swift's concurrency never wait for a disk.
final class IOThread: SerialExecutor {
    /// A task that waits for descriptors and a time.
    private struct Wait {
        let descriptors: [Int32]
        /// A time of `MonotonicClock`, in microseconds; nil for no limit.
        let end: Int64?
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var waits: [UInt64: Wait] = [:]
        /// The waits that were cancelled before they began.
        var cancelled: Set<UInt64> = []
        var nextID: UInt64 = 0
    }

    static let shared = IOThread()

    private let state = Mutex(State())
    /// An eventfd that ends a call of `poll`; −1 where the process has no descriptor left.
    private let wakeDescriptor = event_descriptor_create()
    /// The longest call of `poll` without ``wakeDescriptor``, in milliseconds.
    private static let blindMilliseconds: Int32 = 50

    private init() {
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                unsafe context.map { unsafe Unmanaged<IOThread>.fromOpaque($0).takeUnretainedValue().run() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == 0, "the system starts no thread: \(SystemError.text(code))")
        pthread_detach(thread)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        wake()
    }

    /// Waits until a descriptor is readable or closed at its other end, or for a time; the cancellation of the task ends the wait.
    /// - Parameter end: a time of `MonotonicClock`, in microseconds; nil for no limit.
    func wait(for descriptors: [Int32], untilMicroseconds end: Int64?) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return true }
                    state.waits[id] = Wait(descriptors: descriptors, end: end, continuation: continuation)
                    return false
                }
                if isCancelled { continuation.resume() } else { wake() }
            }
        } onCancel: {
            let wait = state.withLock { state in
                let wait = state.waits.removeValue(forKey: id)
                if wait == nil { state.cancelled.insert(id) }
                return wait
            }
            wait?.continuation.resume()
        }
        _ = state.withLock { $0.cancelled.remove(id) }
    }

    private func wake() {
        var one: UInt64 = 1
        _ = unsafe write(wakeDescriptor, &one, 8)
    }

    private func run() {
        while true {
            for job in takeJobs() { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            for wait in takeReady() { wait.continuation.resume() }
        }
    }

    private func takeJobs() -> [UnownedJob] {
        state.withLock { state in
            defer { state.jobs = [] }
            return state.jobs
        }
    }

    /// Waits until a job or a wait is ready.
    private func takeReady() -> [Wait] {
        let (waits, hasJobs) = state.withLock { ($0.waits, !$0.jobs.isEmpty) }
        var queries = [pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)]
        for wait in waits.values { queries += wait.descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) } }
        var timeout: Int32 = hasJobs ? 0 : wakeDescriptor < 0 ? IOThread.blindMilliseconds : -1
        if !hasJobs, let end = waits.values.compactMap({ $0.end }).min() {
            let rest = Int32(clamping: (max(0, end - MonotonicClock.microseconds) + 999) / 1000)
            timeout = timeout < 0 ? rest : min(timeout, rest)
        }
        _ = unsafe poll(&queries, nfds_t(queries.count), timeout)
        if queries[0].revents != 0 {
            var count: UInt64 = 0
            _ = unsafe read(wakeDescriptor, &count, 8)
        }
        let ready = Set(queries.dropFirst().filter { $0.revents != 0 }.map(\.fd))
        let now = MonotonicClock.microseconds
        return state.withLock { state in
            let ended = state.waits.filter { wait in
                wait.value.descriptors.contains(where: ready.contains) || wait.value.end.map { now >= $0 } ?? false
            }
            for id in ended.keys { state.waits[id] = nil }
            return Array(ended.values)
        }
    }
}
