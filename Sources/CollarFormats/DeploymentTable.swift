import CollarWire

/// An animal that wears a collar.
package struct Animal: Equatable, Hashable, Sendable {
    /// The name that a person gave it; unique among the animals.
    package var name: String
    /// The species' scientific name, such as `Felis catus`; nil if unknown.
    package var species: String?

    package init(name: String, species: String? = nil) {
        self.name = name
        self.species = species
    }
}

/// The time for which an animal wears a collar.
package struct Deployment: Equatable, Sendable {
    package var animal: Animal
    package var deviceID: DeviceID
    /// The first instant, in milliseconds since 1970; nil for no bound.
    package var beginUnixMilliseconds: Int64?
    /// The instant after the last one, in milliseconds since 1970; nil for no bound.
    package var endUnixMilliseconds: Int64?

    package init(animal: Animal, deviceID: DeviceID, beginUnixMilliseconds: Int64? = nil, endUnixMilliseconds: Int64? = nil) {
        self.animal = animal
        self.deviceID = deviceID
        self.beginUnixMilliseconds = beginUnixMilliseconds
        self.endUnixMilliseconds = endUnixMilliseconds
    }

    /// Whether the collar is worn at a time, in milliseconds since 1970.
    package func contains(_ unixMilliseconds: Int64) -> Bool {
        unixMilliseconds >= beginUnixMilliseconds ?? .min && endUnixMilliseconds.map { unixMilliseconds < $0 } ?? true
    }
}

/// Which animal wears which collar, and when. At any time a collar has at most one wearer.
package struct DeploymentTable: Equatable, Sendable {
    /// All deployments, in the order in which they were given.
    package let all: [Deployment]
    private let ofCollar: [DeviceID: [Deployment]]

    /// - Parameter deployments: no two of one collar overlap; if they do, the first in the list counts.
    package init(_ deployments: [Deployment] = []) {
        all = deployments
        ofCollar = Dictionary(grouping: deployments, by: \.deviceID)
    }

    /// The animal that wears a collar at a time, in milliseconds since 1970; nil if none is known to.
    ///
    /// Complexity: linear in the deployments of the collar.
    package func wearer(of deviceID: DeviceID, at unixMilliseconds: Int64) -> Animal? {
        if all.isEmpty { return nil }
        return ofCollar[deviceID]?.first { $0.contains(unixMilliseconds) }?.animal
    }

    /// The animal that wears a collar at a time, in milliseconds since 1970, and times around it at which it is the same one.
    ///
    /// Complexity: linear in the deployments of the collar.
    func period(of deviceID: DeviceID, around unixMilliseconds: Int64) -> (wearer: Animal?, times: ClosedRange<Int64>) {
        var first = Int64.min
        var last = Int64.max
        for deployment in ofCollar[deviceID] ?? [] {
            for change in [deployment.beginUnixMilliseconds, deployment.endUnixMilliseconds] {
                guard let change else { continue }
                if change <= unixMilliseconds { first = max(first, change) } else { last = min(last, change - 1) }
            }
        }
        return (wearer(of: deviceID, at: unixMilliseconds), first...last)
    }

    package func deployments(named name: String) -> [Deployment] { all.filter { $0.animal.name == name } }
}
