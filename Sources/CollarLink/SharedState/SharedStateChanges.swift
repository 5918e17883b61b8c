import CollarErrors
import CollarFormats
import CollarJournal
import CollarWire
import FoundationEssentials

/// A change of a ``SharedState`` that the collar has. If it loses a conflict, the change that counts follows as soon as the collar has that.
public struct SharedStateChange<Value: MessagePayload>: Sendable {
    /// The origin of a change.
    public enum Origin: Hashable, Sendable {
        /// A program at the receiver of this machine.
        case thisReceiver
        /// The application in the collar.
        case collar
        /// Another receiver; the last five hexadecimal digits of its id (`collar-link receiver show`).
        case otherReceiver(String)

        init(_ version: SettingsVersion, in sharing: StateSharing) {
            self =
                switch version.origin {
                case sharing.origin: .thisReceiver
                case 0: .collar
                default: .otherReceiver(ResultLine.text(ofOrigin: version.origin))
                }
        }
    }

    /// The new state.
    public let value: Value
    /// The origin of the change.
    public let origin: Origin
    /// When it was made, by the clock of its origin; later if the version before has a later time.
    public let date: Date
    /// When it was received from the collar, by the clock of this machine.
    public let receivedDate: Date
}

/// The changes of a ``SharedState``, each once. The loop ends without an error when its task is cancelled.
public struct SharedStateChanges<Value: MessagePayload>: AsyncSequence, Sendable {
    /// The errors that an iteration throws.
    public typealias Failure = UserFacingError

    private let collar: Collar
    private let rule: StateRule

    init(_ collar: Collar, _ rule: StateRule) { (self.collar, self.rule) = (collar, rule) }

    /// Begins to wait for changes.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(collar: collar, rule: rule) }

    /// The state of an iteration.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let collar: Collar
        fileprivate let rule: StateRule
        private var source: (keeper: SharedStateKeeper, states: StoredStream<SharedStateKeeper.Told>.AsyncIterator)?
        /// The newest version that needs no element any more.
        private var newest = SettingsVersion.defaults

        fileprivate init(collar: Collar, rule: StateRule) { (self.collar, self.rule) = (collar, rule) }

        /// The next change.
        /// - Returns: nil if the task is cancelled.
        /// - Throws: an error that a person can read, with a step to take.
        public mutating func next() async throws(UserFacingError) -> SharedStateChange<Value>? { try await next(isolation: nil) }

        /// The next change.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(UserFacingError) -> SharedStateChange<Value>? {
            if source == nil {
                let start = collar.access.time.unixMilliseconds
                let keeper: SharedStateKeeper
                do throws(UserFacingError) { keeper = try await SharedStateKeeper.open(collar, rule, until: nil) } catch {
                    if Task.isCancelled { return nil }
                    throw error
                }
                newest = try await keeper.current().confirmed?.version ?? .defaults
                source = (keeper, keeper.states(begins: .since(start)).makeAsyncIterator())
            }
            while let keeper = source?.keeper, let told = try await source?.states.next(isolation: actor) {
                _ = try await keeper.take([told.state])
                // States arrive late and twice.
                guard told.state.version > newest, told.state.version.isPlausible(after: newest) else { continue }
                newest = told.state.version
                guard let value = try? Value(payload: told.state.bytes) else { continue }
                return SharedStateChange(
                    value: value, origin: .init(told.state.version, in: keeper.sharing),
                    date: Date(unixMilliseconds: Int64(clamping: told.state.version.number)),
                    receivedDate: Date(unixMilliseconds: told.unixMilliseconds))
            }
            return nil
        }
    }
}
