import CheckedNumbers
import CollarWire

/// The state of a tracker as words, for the file of a reader. The meaning of the words may change with the program: a reader
/// that does not understand a text begins with a new tracker.
extension AlertTracker {
    package var text: String {
        var words = [heardUnixMilliseconds.map(String.init) ?? "-", isSilent ? "silent" : "heard"]
        words += ["\(battery.rawValue)", isPoor ? "poor" : "good", "\(contraryCount)"]
        words += latest.map { ["\($0.logID.rawValue)", "\($0.sequence)", "\($0.unixMilliseconds)"] } ?? ["-", "-", "-"]
        words.append(formerLogID.map { "\($0.rawValue)" } ?? "-")
        for alert in told {
            words.append(
                "told:\(String(alert.id, radix: 16)):\(String(alert.subject, radix: 16)):\(alert.logID.rawValue):\(alert.sequence)")
        }
        for border in borders {
            let watch = border.watch
            words.append(
                [
                    String(border.key, radix: 16), String(border.shapeKey, radix: 16), watch.isInside ? "in" : "out",
                    watch.clearSince.map(String.init) ?? "-", watch.acrossSince.map(String.init) ?? "-",
                ].joined(separator: ":"))
        }
        return words.joined(separator: " ")
    }

    /// - Returns: nil for any other text.
    package init?(text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 9, let heard = AlertTracker.time(words[0]), let battery = Int(words[2], in: 0...2).flatMap(Battery.init),
            let count = Int(words[4], in: 0...AlertTracker.poorFixCount)
        else { return nil }
        self.init()
        heardUnixMilliseconds = heard
        self.battery = battery
        contraryCount = count
        switch words[1] {
        case "silent": isSilent = true
        case "heard": isSilent = false
        default: return nil
        }
        switch words[3] {
        case "poor": isPoor = true
        case "good": isPoor = false
        default: return nil
        }
        if words[5] != "-" {
            guard let log = LogID(text: words[5]), let sequence = UInt32(words[6], in: 0 ... .max),
                let time = Int64(words[7], in: .unixMilliseconds)
            else { return nil }
            latest = Latest(logID: log, sequence: sequence, unixMilliseconds: time)
        }
        if words[8] != "-" {
            guard let log = LogID(text: words[8]) else { return nil }
            formerLogID = log
        }
        for word in words.dropFirst(9) {
            if let border = Border(text: word) {
                borders.append(border)
            } else if let alert = Told(text: word) {
                told.append(alert)
            } else {
                return nil
            }
        }
    }

    /// The time in a word; the inner value is nil for `-`, the outer one for anything else that is no time.
    fileprivate static func time(_ word: some StringProtocol) -> Int64?? {
        word == "-" ? .some(nil) : Int64(word, in: .unixMilliseconds).map { .some($0) }
    }
}

extension AlertTracker.Border {
    fileprivate init?(text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 5, let key = UInt64(hexadecimal: parts[0]), let shapeKey = UInt64(hexadecimal: parts[1]),
            parts[2] == "in" || parts[2] == "out", let clear = AlertTracker.time(parts[3]), let across = AlertTracker.time(parts[4])
        else { return nil }
        self.init(
            key: key, shapeKey: shapeKey,
            watch: BorderWatch(isInside: parts[2] == "in", clearSince: clear, acrossSince: across))
    }
}

extension AlertTracker.Told {
    fileprivate init?(text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "told", let id = UInt64(hexadecimal: parts[1]), let subject = UInt64(hexadecimal: parts[2]),
            let log = LogID(text: parts[3]), let sequence = UInt32(parts[4], in: 0 ... .max)
        else { return nil }
        self.init(id: id, subject: subject, logID: log, sequence: sequence)
    }
}

extension LogID {
    fileprivate init?(text: some StringProtocol) {
        guard let number = UInt32(text, in: 0...LogID.max.rawValue) else { return nil }
        self.init(rawValue: number)
    }
}
