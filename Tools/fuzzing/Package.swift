// swift-tools-version: 6.2
import PackageDescription

/// As strict as the package that is fuzzed.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
    name: "collar-link-fuzz",
    // By name: the identity of a package in a folder is the folder's name, which is anything.
    dependencies: [.package(name: "collar-link", path: "../..")],
    targets: [
        .target(
            name: "FuzzCore", dependencies: [.product(name: "CollarWire", package: "collar-link")],
            swiftSettings: strict),
        .executableTarget(
            name: "collar-link-fuzz",
            dependencies: ["FuzzCore", .product(name: "CollarWire", package: "collar-link")], swiftSettings: strict),
    ]
)
