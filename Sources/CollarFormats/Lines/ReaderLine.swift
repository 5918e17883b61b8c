import CollarJournal

/// A named reader as a line, as `Protocol/schema/reader.schema.json` describes it.
package struct ReaderLine: Sendable {
    /// Its name.
    package var name: String
    /// The collars that it reads, ascending; nil for all.
    package var collars: [UInt64]?
    /// When it was active last, in milliseconds since 1970.
    package var seenUnixMilliseconds: Int64
    /// Fixes and messages, of the kinds that it takes, that it has not taken; nil if a journal cannot be read.
    package var lag: ReaderLag?

    /// Creates a line.
    package init(name: String, collars: [UInt64]?, seenUnixMilliseconds: Int64, lag: ReaderLag?) {
        self.name = name
        self.collars = collars
        self.seenUnixMilliseconds = seenUnixMilliseconds
        self.lag = lag
    }

    /// The line of JSON, with its line feed.
    /// - Parameter now: the present time, in milliseconds since 1970.
    package func line(unixMilliseconds now: Int64) -> [UInt8] {
        var object = JSONLine(type: "reader", unixMilliseconds: now)
        object.add("name", name)
        object.add("collars", collars.map { $0.map { MessageDescription.hexadecimal($0) } })
        object.add("seen_unix_ms", seenUnixMilliseconds)
        object.add("lag", lag?.entryCount)
        object.add("lag_ms", lag.map { lag in lag.oldestUnixMilliseconds.map { max(0, now - $0) } ?? 0 })
        return object.line
    }
}
