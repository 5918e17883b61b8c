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
    private var keys: [Key] = []
    /// The texts of each key. They stand apart, so that a test of a key copies none of them.
    private var texts: [LogTexts] = []
    private var last = 0

    init(_ deployments: DeploymentTable) { self.deployments = deployments }

    /// The texts of the log that the last call of ``find(_:)`` looked for.
    var current: LogTexts {
        @inline(__always) get { texts[last] }
    }

    /// Looks for the log of a fix. The log of the last fix is tested first.
    @inline(__always)
    mutating func find(_ received: ReceivedFix) {
        if last < keys.count, keys[last].holds(received) { return }
        search(received)
    }

    /// Not inlined, because a change from one collar to another is rare.
    @inline(never)
    private mutating func search(_ received: ReceivedFix) {
        if let known = keys.firstIndex(where: { $0.holds(received) }) {
            last = known
            return
        }
        // No user has so many collars, but anyone can send frames, and forged ids must not fill the memory.
        if keys.count == LogMemory.rememberedLogs {
            keys.removeAll(keepingCapacity: true)
            texts.removeAll(keepingCapacity: true)
        }
        let (animal, times) = deployments.period(of: received.deviceID, around: received.fix.unixMilliseconds)
        keys.append(
            Key(
                deviceID: received.deviceID, logID: received.logID, firstUnixMilliseconds: times.lowerBound,
                lastUnixMilliseconds: times.upperBound))
        texts.append(LogTexts(received.identifier, animal))
        last = keys.count - 1
    }
}
