import CollarWire

/// The pieces of a line of JSON that are the same for every fix of one log while the same animal wears the collar.
struct LogTexts: Sendable {
    /// The fix's UUID without its last eight digits, which are the sequence.
    let identifierHead: InlineBytes
    /// The key `collar` with its value.
    let collar: InlineBytes
    /// The key `log` with its value, and the key that follows.
    let log: InlineBytes
    /// Whether the animal's name is known.
    let isNamed: Bool
    /// The key `name` with its value; empty if it is unknown.
    let name: [UInt8]

    init(_ identifier: FixIdentifier, _ animal: Animal?) {
        identifierHead = InlineBytes(String(identifier.text.dropLast(8)))
        collar = InlineBytes(",\"collar\":\"\(MessageDescription.hexadecimal(identifier.deviceID))\"")
        log = InlineBytes(",\"log\":\(identifier.logID),\"rx_unix_ms\":")
        var name: [UInt8] = []
        if let animal {
            name.append(#","name":"#)
            name.append(jsonString: animal.name)
        }
        isNamed = animal != nil
        self.name = name
    }
}

/// Makes ``LogTexts`` once for each log, and again where another animal wears the collar.
struct LogMemory: Sendable {
    private struct Key {
        let deviceID: UInt64
        let logID: UInt32
        /// The times of fixes for which the texts are right, in milliseconds since 1970.
        let firstUnixMilliseconds: Int64
        let lastUnixMilliseconds: Int64

        @inline(__always)
        func holds(_ received: ReceivedFix) -> Bool {
            deviceID == received.deviceID && logID == received.logID && firstUnixMilliseconds <= received.fix.unixMilliseconds
                && received.fix.unixMilliseconds <= lastUnixMilliseconds
        }
    }

    /// The largest number of logs whose texts are kept.
    private static let rememberedLogs = 64

    private let deployments: DeploymentTable
    private var known: [(key: Key, texts: LogTexts)] = []
    /// The key of ``current``; at first one that holds no fix.
    private var key = Key(deviceID: 0, logID: 0, firstUnixMilliseconds: .max, lastUnixMilliseconds: .min)
    /// The texts of the log that the last call of ``find(_:)`` looked for.
    private(set) var current = LogTexts(FixIdentifier(deviceID: 0, logID: 0, sequence: 0), nil)

    init(_ deployments: DeploymentTable) { self.deployments = deployments }

    /// Looks for the log of a fix. The log of the last fix is tested first.
    @inline(__always)
    mutating func find(_ received: ReceivedFix) {
        if !key.holds(received) { search(received) }
    }

    /// Not inlined, because a change from one collar to another is rare.
    @inline(never)
    private mutating func search(_ received: ReceivedFix) {
        if let found = known.first(where: { $0.key.holds(received) }) {
            (key, current) = found
            return
        }
        // No user has so many collars, but anyone can send frames, and forged ids must not fill the memory.
        if known.count == LogMemory.rememberedLogs { known.removeAll(keepingCapacity: true) }
        let (animal, times) = deployments.period(of: received.deviceID, around: received.fix.unixMilliseconds)
        key = Key(
            deviceID: received.deviceID, logID: received.logID, firstUnixMilliseconds: times.lowerBound,
            lastUnixMilliseconds: times.upperBound)
        current = LogTexts(received.identifier, animal)
        known.append((key, current))
    }
}
