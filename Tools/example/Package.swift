// swift-tools-version: 6.2
import PackageDescription

/// A Swift program that uses the library `CollarLink` as any other program does: copy this folder, and put the address of
/// CollarLink's repository in the place of the path.
let package = Package(
    name: "positions",
    dependencies: [.package(name: "collar-link", path: "../..")],
    targets: [
        .executableTarget(
            name: "positions", dependencies: [.product(name: "CollarLink", package: "collar-link")],
            swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety(), .treatAllWarnings(as: .error)])
    ]
)
