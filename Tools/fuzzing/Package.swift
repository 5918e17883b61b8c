// swift-tools-version: 6.2
import PackageDescription

/// The same strict settings as in the package that is fuzzed.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
    name: "collar-link-fuzz",
    // The name is given here, because otherwise a package in a folder has the folder's name, which may be anything.
    dependencies: [.package(name: "collar-link", path: "../..")],
    targets: [
        .target(
            name: "FuzzCore",
            dependencies: [
                .product(name: "CollarWire", package: "collar-link"), .product(name: "CollarARQ", package: "collar-link"),
                .product(name: "CollarFirmware", package: "collar-link"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "collar-link-fuzz",
            dependencies: ["FuzzCore", .product(name: "CollarWire", package: "collar-link")], swiftSettings: strict),
    ]
)
