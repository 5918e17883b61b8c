import CollarWire

/// A log of a collar, and the animal that wore the collar: what the constant texts of a line are made from.
struct LogOfAnimal {
    /// The collar's factory id.
    let deviceID: UInt64
    /// The log id, cut to 26 bits for both the identifiers and the texts, so that the two always agree.
    let logID: UInt32
    /// Who wore the collar; nil if unknown.
    let animal: Animal?

    init(deviceID: UInt64, logID: UInt32, animal: Animal?) {
        self.deviceID = deviceID
        self.logID = logID & LogIdentity.maximumLogID
        self.animal = animal
    }

    /// The collar's factory id, 16 hexadecimal digits.
    var collar: String { MessageDescription.hexadecimal(deviceID) }

    /// The UUID of a fix of the log, without its last eight digits, which are the sequence.
    var identifierHead: InlineBytes { InlineBytes(identifierHeadText) }

    /// The text of ``identifierHead``.
    var identifierHeadText: String { String(FixIdentifier(deviceID: deviceID, logID: logID, sequence: 0).text.dropLast(8)) }
}

/// Texts that a writer makes once for each log, and again where another animal wears the collar.
struct LogMemory<Texts: Sendable>: Sendable {
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
    private static var rememberedLogs: Int { 64 }

    private var keys: [Key] = []
    /// The texts of each key. They stand apart, so that a test of a key copies none of them.
    private var texts: [Texts] = []
    private var last = 0
    private let make: @Sendable (LogOfAnimal) -> Texts
    private(set) var deployments: DeploymentTable

    /// - Parameter make: makes the texts of a log.
    init(_ deployments: DeploymentTable, _ make: @escaping @Sendable (LogOfAnimal) -> Texts) {
        self.deployments = deployments
        self.make = make
    }

    /// The texts of the log that the last call of ``find(_:)`` looked for.
    var current: Texts {
        @inline(__always) get { texts[last] }
    }

    /// Looks for the log of a fix. The log of the last fix is tested first.
    /// - Returns: whether it is that one.
    @inline(__always)
    @discardableResult
    mutating func find(_ received: ReceivedFix) -> Bool {
        if last < keys.count, keys[last].holds(received) { return true }
        search(received)
        return false
    }

    /// Makes all texts anew, with other deployments.
    mutating func setDeployments(_ deployments: DeploymentTable) {
        self.deployments = deployments
        removeAll()
    }

    private mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }

    /// Not inlined, because a change from one collar to another is rare.
    @inline(never)
    private mutating func search(_ received: ReceivedFix) {
        if let known = keys.firstIndex(where: { $0.holds(received) }) {
            last = known
            return
        }
        // No user has so many collars, but anyone can send frames, and forged ids must not fill the memory.
        if keys.count == LogMemory.rememberedLogs { removeAll() }
        let (animal, times) = deployments.period(of: received.deviceID, around: received.fix.unixMilliseconds)
        keys.append(
            Key(
                deviceID: received.deviceID, logID: received.logID, firstUnixMilliseconds: times.lowerBound,
                lastUnixMilliseconds: times.upperBound))
        texts.append(make(LogOfAnimal(deviceID: received.deviceID, logID: received.logID, animal: animal)))
        last = keys.count - 1
    }
}
