import CollarWire

/// A digest of the events of a stream and of their places.
struct StreamEvents: Equatable, CustomStringConvertible {
    private(set) var frameCount = 0
    private(set) var faultCount = 0
    private var digest = Digest()

    var description: String { "\(frameCount) frames and \(faultCount) faults, digest \(digest.value)" }

    /// A fault that ended before `position`.
    mutating func add(_ fault: StreamFault, at position: Int) {
        faultCount += 1
        digest.add(fault.rawValue)
        digest.add(position)
    }

    /// A frame that ended before `position`.
    mutating func add(_ frame: Span<UInt8>, at position: Int) {
        frameCount += 1
        digest.add(0xFF)
        digest.add(position)
        for index in frame.indices { digest.add(frame[index]) }
    }
}
