/// The keys of the values that a collar keeps besides its log.
public enum StoredKey: UInt8, Equatable, Sendable {
    /// Number of boots since manufacture.
    case bootCount = 1
    /// Id of the log.
    case logID
    /// Id of the paired receiver; 0 for none.
    case pairedReceiverID
    /// The paired receiver has acknowledged everything below this sequence. The upper half holds the id of the log.
    case firstUndelivered
    /// A former receiver acknowledged everything below this sequence. The upper half holds the id of the log.
    case formerlyDelivered
    /// The receiver that told the collar to unpair; 0 if the collar has another receiver now.
    case releasedReceiverID
    /// Whether positions are logged (upper half, 1 or 0), and since when (lower half, seconds since 1970).
    case tracking
    /// Version of the settings in force.
    case settingsVersion
    /// Settings, two in each value; the upper half holds the one with the lower key.
    case settings1, settings3, settings5, settings7, settings9
    /// Commands and messages that were executed, see `ExecutedRequests`.
    case request0, request1, request2, request3, request4, request5, request6, request7
    /// Further settings, two in each value.
    case settings11, settings13, settings15
    /// The generation of the key for which the values are in force; unset if the collar never had a key.
    case keyGeneration
    /// Set if settings were lost and have not been set since: their version, or 1 if it is not known. A block that is marked as
    /// old gives this value without a record of it.
    case settingsLost

    static var count: Int { 26 }
}

/// Values by key. Each of them may be unset.
struct StoredValues {
    private var values = InlineArray<26, UInt64>(repeating: 0)
    private var isSet = InlineArray<26, Bool>(repeating: false)

    subscript(key: StoredKey) -> UInt64? {
        get { isSet[Int(key.rawValue) - 1] ? values[Int(key.rawValue) - 1] : nil }
        set {
            isSet[Int(key.rawValue) - 1] = newValue != nil
            values[Int(key.rawValue) - 1] = newValue ?? 0
        }
    }

    /// How many values differ, and the key of the value if only one does.
    func changes(since before: StoredValues) -> (count: Int, onlyKey: StoredKey?) {
        var count = 0
        var last: StoredKey?
        for raw in 1...UInt8(StoredKey.count) {
            guard let key = StoredKey(rawValue: raw), self[key] != before[key] else { continue }
            count += 1
            last = key
        }
        return (count, count == 1 ? last : nil)
    }
}
