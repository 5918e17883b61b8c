// swift-tools-version: 6.2
import PackageDescription

// Three programs that use CollarLink as programs of other people do: by the address of a git repository, and by a version of it.
//
//   COLLAR_LINK_URL=https://… swift build -c release
//   swift run -c release walk       a collar without hardware: a walk over a radio that loses 30 % of all frames
//   swift run -c release bell       rings the bell of the terminal when an animal leaves a place
//   swift run -c release find Athena 50.1703 -5.1139
//                                   asks the collar where it is, and lets it sound
//
// Without COLLAR_LINK_URL the repository is the checkout around this folder; it needs the tag 0.1.0. To make a program of your own from one
// of them, copy this folder, and write the address into the manifest.

/// The address of the repository: `https://…`, `file:///…`.
let url = Context.environment["COLLAR_LINK_URL"] ?? "file:///" + Context.packageDirectory.split(separator: "/").dropLast(2).joined(separator: "/")

/// The name by which the package manager knows the repository: the end of its address.
let name = url.split(separator: "/").last.map { $0.hasSuffix(".git") ? String($0.dropLast(4)) : String($0) } ?? url

func example(_ program: String, alsoUsing others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: program, dependencies: [.product(name: "CollarLink", package: name)] + others, swiftSettings: [.swiftLanguageMode(.v6)])
}

let package = Package(
    name: "examples",
    dependencies: [.package(url: url, from: "0.1.0")],
    targets: [
        example("bell"),
        example("walk", alsoUsing: [.product(name: "CollarLinkTesting", package: name)]),
        example("find"),
    ]
)
