import Glibc

/// The state of a fuzzing process, in a file that is mapped into memory. The file remains when the process dies, and the
/// parent reads it.
///
/// Safe: the mapping lives as long as the process, and every access is within it.
@safe public final class SharedRecord {
    /// The most bytes of an input.
    public static let inputCapacity = 4096
    private static let messageCapacity = 1024
    private static let byteCount = Place.message + messageCapacity

    /// Offsets of the recorded values.
    private enum Place {
        static let execution = 0
        static let behindCRC = 8
        static let accepted = 16
        static let nanoseconds = 24
        static let inputCount = 32
        static let messageCount = 40
        static let input = 48
        static let message = input + inputCapacity
    }

    /// The file could not be mapped; the error number says why.
    public struct Unusable: Error {
        /// The error number, as in errno.
        public let code: Int32
    }

    private let memory: UnsafeMutableRawPointer

    /// Maps the file at `path`, which is created if it does not exist.
    public init(path: String) throws(Unusable) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Unusable(code: errno) }
        defer { _ = close(descriptor) }
        guard ftruncate(descriptor, off_t(SharedRecord.byteCount)) == 0,
            let mapped = unsafe mmap(nil, SharedRecord.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe mapped != MAP_FAILED
        else { throw Unusable(code: errno) }
        unsafe memory = mapped
    }

    deinit { unsafe munmap(memory, SharedRecord.byteCount) }

    /// Executions begun before the current one.
    public var execution: UInt64 {
        get { word(Place.execution) }
        set { setWord(newValue, Place.execution) }
    }

    /// Inputs so far whose CRC was correct.
    public var behindCRC: UInt64 {
        get { word(Place.behindCRC) }
        set { setWord(newValue, Place.behindCRC) }
    }

    /// Inputs so far that were decoded.
    public var accepted: UInt64 {
        get { word(Place.accepted) }
        set { setWord(newValue, Place.accepted) }
    }

    /// Time spent on executions so far.
    public var nanoseconds: UInt64 {
        get { word(Place.nanoseconds) }
        set { setWord(newValue, Place.nanoseconds) }
    }

    /// The input of the current execution.
    public var input: [UInt8] { bytes(at: Place.input, count: Place.inputCount, capacity: SharedRecord.inputCapacity) }

    /// The problem that the process reported; empty if it reported none.
    public var message: String {
        get {
            let utf8 = bytes(at: Place.message, count: Place.messageCount, capacity: SharedRecord.messageCapacity)
            return String(decoding: utf8, as: UTF8.self)
        }
        set {
            let utf8 = newValue.utf8.prefix(SharedRecord.messageCapacity)
            setWord(UInt64(utf8.count), Place.messageCount)
            for (index, byte) in utf8.enumerated() {
                unsafe memory.storeBytes(of: byte, toByteOffset: Place.message + index, as: UInt8.self)
            }
        }
    }

    /// Notes the input that is about to be executed. Never inlined, so that the note is complete before the execution begins.
    @inline(never)
    public func begin(_ execution: UInt64, input: Span<UInt8>) {
        let count = min(input.count, SharedRecord.inputCapacity)
        unsafe input.extracting(0..<count).withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return }
            unsafe (memory + Place.input).copyMemory(from: start, byteCount: count)
        }
        setWord(UInt64(count), Place.inputCount)
        self.execution = execution
    }

    private func word(_ place: Int) -> UInt64 { unsafe memory.load(fromByteOffset: place, as: UInt64.self) }

    private func setWord(_ value: UInt64, _ place: Int) {
        unsafe memory.storeBytes(of: value, toByteOffset: place, as: UInt64.self)
    }

    private func bytes(at place: Int, count: Int, capacity: Int) -> [UInt8] {
        (0..<min(Int(clamping: word(count)), capacity)).map { index in
            unsafe memory.load(fromByteOffset: place + index, as: UInt8.self)
        }
    }
}
