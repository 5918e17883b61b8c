import CollarWire
import Testing

@testable import CollarLink

/// Which state counts after a conflict, for all resolutions and all cases.
@Suite struct StateResolutionTests {
    /// How two changes relate.
    enum Case: CaseIterable { case localNewer, remoteNewer, equal, equalHigherOrigin, sameUpdate }

    static func state(_ bytes: [UInt8], _ number: UInt64, origin: UInt32) throws -> SharedStateMessage {
        let version = try #require(SettingsVersion(number: number, origin: origin))
        let made = SharedStateMessage(version: version, state: bytes.span)
        return try #require(made)
    }

    private func changes(_ relation: Case) throws -> (local: SharedStateMessage, remote: SharedStateMessage) {
        let remote = try Self.state([2], 1000, origin: 5)
        switch relation {
        case .localNewer: return (try Self.state([1], 1001, origin: 3), remote)
        case .remoteNewer: return (try Self.state([1], 999, origin: 7), remote)
        case .equal: return (try Self.state([1], 1000, origin: 5), remote)
        case .equalHigherOrigin: return (try Self.state([1], 1000, origin: 7), remote)
        case .sameUpdate: return (remote, remote)
        }
    }

    private static let sum: StateRule = .merge { local, remote in [local[0] + remote[0]] }

    private static let table: [(Case, latest: ResolvedState, earliest: ResolvedState, highest: ResolvedState)] = [
        (.localNewer, .local, .remote, .local),
        (.remoteNewer, .remote, .local, .remote),
        (.equal, .remote, .remote, .remote),
        (.equalHigherOrigin, .remote, .remote, .local),
    ]

    @Test func everyResolutionInEveryCase() throws {
        for (relation, latest, earliest, highest) in Self.table {
            let (local, remote) = try changes(relation)
            #expect(resolve(local: local, remote: remote, resolution: .latest) == latest, "\(relation)")
            #expect(resolve(local: local, remote: remote, resolution: .earliest) == earliest, "\(relation)")
            #expect(resolve(local: local, remote: remote, resolution: .highestSequence) == highest, "\(relation)")
            #expect(resolve(local: local, remote: remote, resolution: .host) == .local)
            #expect(resolve(local: local, remote: remote, resolution: .collar) == .remote)
            #expect(resolve(local: local, remote: remote, resolution: Self.sum) == .merged([3]))
        }
        let (local, remote) = try changes(.sameUpdate)
        for rule in [.latest, .earliest, .host, .collar, .highestSequence, Self.sum] as [StateRule] {
            #expect(resolve(local: local, remote: remote, resolution: rule) == .same)
        }
    }

    @Test func aMergeThatGivesNothingLeavesTheHighestVersion() throws {
        let tooLong: StateRule = .merge { _, _ in [UInt8](repeating: 0, count: 13) }
        let unreadable = StateResolution<UInt16>.merge { local, _ in local }.rule
        for rule in [tooLong, unreadable] {
            for (relation, _, _, highest) in Self.table {
                let (local, remote) = try changes(relation)
                #expect(resolve(local: local, remote: remote, resolution: rule) == highest)
            }
        }
        let typed = StateResolution<UInt8>.merge { local, remote in local * 10 + remote }.rule
        let (local, remote) = try changes(.equal)
        #expect(resolve(local: local, remote: remote, resolution: typed) == .merged([12]))
    }
}
