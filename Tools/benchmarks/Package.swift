// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "collar-link", path: "../..")],
    targets: [
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                .product(name: "CollarWire", package: "collar-link"),
                .product(name: "CollarBridge", package: "collar-link"),
                .product(name: "CollarLink", package: "collar-link"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .executableTarget(
            name: "load",
            dependencies: [
                .product(name: "CollarWire", package: "collar-link"),
                .product(name: "CollarJournal", package: "collar-link"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
