/// A stream of states: the present one at once, then each change.
///
///     for try await status in collar.connection { show(status.title) }
///
/// A loop that is slower than the changes gets the newest state, and no state twice in a row. It ends without an error when its task is
/// cancelled. It throws when something stands in the way that a person must remove, such as a missing permission.
///
/// Each iteration begins with the present state; several at a time are independent of one another.
public struct StateStream<State: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The states.
    public typealias Element = State
    /// The errors that an iteration throws.
    public typealias Failure = UserFacingError
    /// Waits for the next state, which may equal the one before; nil at the end.
    typealias Source = @Sendable () async throws(UserFacingError) -> State?

    private let begin: @Sendable () -> Source

    init(_ begin: @escaping @Sendable () -> Source) { self.begin = begin }

    /// Begins with the present state.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: begin()) }

    /// The state of an iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: Source
        private var last: State?

        init(source: @escaping Source) { self.source = source }

        /// The next state, which differs from the one before.
        /// - Returns: nil if the task is cancelled.
        /// - Throws: an error that a person can read, with a step to take.
        public mutating func next() async throws(UserFacingError) -> State? { try await next(isolation: nil) }

        /// The next state, which differs from the one before.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(UserFacingError) -> State? {
            while let state = try await source() {
                guard state != last else { continue }
                last = state
                return state
            }
            return nil
        }
    }
}
