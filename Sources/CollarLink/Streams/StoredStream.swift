import Synchronization

/// A stream of what a receiver stores: fixes, gaps, events or alerts.
///
///     for try await fix in collar.fixes { print(fix.coordinate) }
///
/// An element counts as taken when the next one is asked for. So a loop that ends early gets its last element again, with the same id, when
/// it iterates over the same value, or under the same reader name.
///
/// The loop ends without an error when its task is cancelled. It throws when something stands in the way that a person must remove, such as
/// a missing permission. Iterate over the same value once more to go on at the same element.
///
/// A value has one iteration at a time: a new one ends the one before. Make a value for each consumer.
public struct StoredStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The errors that an iteration throws.
    public typealias Failure = UserFacingError

    private let reading: StoredReading<Element>

    init(_ reading: StoredReading<Element>) { self.reading = reading }

    /// Begins to read, or goes on where the last iteration over this value has stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reading: reading, number: reading.beginIteration()) }

    /// The state of an iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reading: StoredReading<Element>
        let number: Int

        /// The next element. The one before counts as taken.
        /// - Returns: nil if the task is cancelled.
        /// - Throws: an error that a person can read, with a step to take.
        public mutating func next() async throws(UserFacingError) -> Element? { try await reading.next(inIteration: number) }

        /// The next element. The one before counts as taken.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(UserFacingError) -> Element? {
            try await reading.next(inIteration: number)
        }
    }
}
