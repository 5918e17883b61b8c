/// What a collar keeps beside its log.
public enum StoredKey: UInt8, Equatable, Sendable {
    /// Boots since manufacture.
    case bootCount = 1
    /// Id of the log.
    case logID
    /// Id of the paired receiver; 0 for none.
    case pairedReceiverID
    /// Everything below this sequence is acknowledged by the paired receiver; belongs to the log id in its upper half.
    case firstUndelivered
    /// Everything below this sequence was acknowledged by a former receiver; belongs to the log id in its upper half.
    case formerlyDelivered
    /// The receiver that ordered the collar to unpair; 0 where it has another now.
    case releasedReceiverID
    /// Whether positions are logged (upper half, 1 or 0), and since when in seconds since 1970.
    case tracking
    /// Version of the settings in force.
    case settingsVersion
    /// Settings in pairs, the lower key in the upper half.
    case settings1, settings3, settings5, settings7, settings9
    /// Requests that were executed.
    case request0, request1, request2, request3, request4, request5, request6, request7

    static var count: Int { 21 }
}

/// Values by key, each set or not.
struct StoredValues {
    private var values = InlineArray<21, UInt64>(repeating: 0)
    private var isSet = InlineArray<21, Bool>(repeating: false)

    subscript(key: StoredKey) -> UInt64? {
        get { isSet[Int(key.rawValue) - 1] ? values[Int(key.rawValue) - 1] : nil }
        set {
            isSet[Int(key.rawValue) - 1] = newValue != nil
            values[Int(key.rawValue) - 1] = newValue ?? 0
        }
    }

    /// How many values differ; which one, if it is only one.
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
