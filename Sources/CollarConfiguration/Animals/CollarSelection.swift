import CollarFormats
import CollarWire

/// The collars that a command is about.
package enum CollarSelection: Equatable, Sendable {
    case all
    case collar(DeviceID)
    /// Every collar that the animal with this name wears or wore, each for the time at which it did.
    case animal(name: String, DeploymentTable)

    /// The factory ids of the collars, in ascending order; nil for all.
    package var deviceIDs: [DeviceID]? {
        switch self {
        case .all: nil
        case .collar(let deviceID): [deviceID]
        case .animal(let name, let table): Set(table.deployments(named: name).map(\.deviceID)).sorted()
        }
    }

    /// Whether something that happened at a collar belongs to the selection.
    ///
    /// Complexity: linear in the deployments of the collar.
    /// - Parameter unixMilliseconds: the collar's time, such as that of a fix, in milliseconds since 1970.
    package func contains(_ deviceID: DeviceID, at unixMilliseconds: Int64) -> Bool {
        switch self {
        case .all: true
        case .collar(let wanted): deviceID == wanted
        case .animal(let name, let table): table.wearer(of: deviceID, at: unixMilliseconds)?.name == name
        }
    }
}
