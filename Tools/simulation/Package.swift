// swift-tools-version: 6.2
import PackageDescription

/// As strict as the package that is simulated.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "collar-link-simulation",
    // By name: the identity of a package in a folder is the folder's name, which is anything.
    dependencies: [.package(name: "collar-link", path: "../..")],
    targets: [
        .executableTarget(
            name: "collar-link-simulation",
            dependencies: [.product(name: "LinkSimulator", package: "collar-link")], swiftSettings: strict)
    ]
)
