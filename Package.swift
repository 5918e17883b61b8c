// swift-tools-version: 6.2
import PackageDescription

/// What every target of this package is held to.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

/// Flags of the compiler, for builds of this package by its own scripts, which set the variable. The package manager takes no flags of
/// the compiler from a package that another one uses.
func flags(_ flags: [String]) -> [SwiftSetting] {
    Context.environment["COLLAR_LINK_COMMIT"] == nil ? [] : [.unsafeFlags(flags, .when(configuration: .release))]
}

/// The same for targets in which size matters more than speed, or that handle few values: without copies of generic functions for each
/// type that they are used with, they compile in half the time and are smaller.
let cold: [SwiftSetting] =
    strict + flags(["-Osize", "-Xllvm", "-sil-disable-pass=generic-specializer"])

/// The programs that measure fill and read memory as C programs would.
let measuring: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// The portable core also compiles as Embedded Swift: untyped throws and the like are refused on the host already.
let portable: [SwiftSetting] = strict + [
    .treatWarning("EmbeddedRestrictions", as: .error),
    .enableExperimentalFeature("Lifetimes"),
]

/// The same for tests: to optimise a test takes longer than to run it. Without the second flag the compiler would read each target twice.
let unoptimized: [SwiftSetting] =
    strict + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"], .when(configuration: .release))]

/// A test target for the library of the same name.
func tests(for target: String, alsoUsing others: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(target)Tests", dependencies: [.byName(name: target)] + others,
        swiftSettings: unoptimized)
}

/// The commit that is built, for `collar-link version`: `Tools/run` sets the variable. (`Context.gitInformation` is kept from the first
/// build of a checkout, and so names an old commit.) Only the target that holds it is compiled again when it changes.
let commit: [CSetting] = (Context.environment["COLLAR_LINK_COMMIT"]).map { [.define("COLLAR_LINK_COMMIT", to: "\"\($0)\"")] } ?? []

/// In the build of the tool, each function of the modules that a fix passes through begins at a multiple of 32 bytes. Without that, the
/// flood of batches is up to 8 % faster or slower after any change, by the place that the linker happens to give to each function.
let aligned: [SwiftSetting] = flags(["-Xllvm", "-align-all-functions=5"])

let package = Package(
    name: "collar-link",
    products: [
        .executable(name: "collar-link", targets: ["collar-link"]),
        .library(name: "CollarWire", targets: ["CollarWire"]),
        .library(name: "CollarARQ", targets: ["CollarARQ"]),
        .library(name: "CollarFirmware", targets: ["CollarFirmware"]),
        .library(name: "CollarLink", targets: ["CollarLink"]),
        .library(name: "CollarLinkTesting", targets: ["CollarLinkTesting"]),
    ],
    targets: [
        .systemLibrary(name: "CCarrylessMultiply"),
        .target(name: "CollarWire", dependencies: ["CCarrylessMultiply"], swiftSettings: portable + aligned),
        .target(name: "CollarARQ", dependencies: ["CollarWire"], swiftSettings: portable + aligned),
        .target(name: "CollarFirmware", dependencies: ["CollarWire", "CollarARQ"], swiftSettings: portable),
        .target(name: "CheckedNumbers", swiftSettings: strict + aligned),
        .target(name: "CollarErrors", swiftSettings: strict),
        .target(name: "CLinux"),
        .target(name: "LinuxSystem", dependencies: ["CLinux", "CheckedNumbers", "CollarErrors"], swiftSettings: strict + aligned),
        .target(
            name: "CollarJournal", dependencies: ["CollarWire", "CollarARQ", "CheckedNumbers", "CLinux"],
            swiftSettings: strict + aligned),
        .target(
            name: "CollarHost", dependencies: ["CollarWire", "CollarARQ", "CollarTracking", "CollarJournal"], swiftSettings: strict + aligned),
        .target(name: "RadioModems", dependencies: ["CollarWire", "CollarARQ", "CheckedNumbers"], swiftSettings: strict + aligned),
        .target(
            name: "CollarSimulator", dependencies: ["CollarWire", "CollarARQ", "CheckedNumbers", "CollarFirmware", "RadioModems"],
            swiftSettings: cold),
        .target(name: "CollarTracking", dependencies: ["CollarWire", "CheckedNumbers"], swiftSettings: strict),
        .target(
            name: "CollarFormats",
            dependencies: ["CollarTracking", "CollarErrors", "LinuxSystem", "CollarWire", "CollarARQ", "CheckedNumbers", "CollarJournal"],
            swiftSettings: strict + aligned),
        .target(
            name: "CollarConfiguration",
            dependencies: ["CheckedNumbers", "CollarErrors", "LinuxSystem", "RadioModems", "CollarTracking", "CollarFormats"], swiftSettings: cold),
        .systemLibrary(name: "CLibudev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
        .target(name: "CollarPorts", dependencies: ["CollarWire", "CollarARQ", "CheckedNumbers"], swiftSettings: cold),
        .target(
            name: "SerialDevices", dependencies: ["CollarPorts", "CollarErrors", "LinuxSystem", "CLinux", "CheckedNumbers", "CLibudev"],
            swiftSettings: cold),
        .target(
            name: "CollarControl",
            dependencies: [
                "CheckedNumbers", "CollarErrors", "CLinux", "LinuxSystem", "CollarWire", "CollarARQ", "CollarJournal", "CollarHost", "CollarTracking",
                "CollarFormats", "CollarConfiguration",
            ],
            swiftSettings: cold),
        .target(
            name: "CollarReaders",
            dependencies: [
                "CheckedNumbers", "CollarErrors", "CLinux", "LinuxSystem", "CollarWire", "CollarARQ", "CollarJournal", "CollarTracking",
                "CollarFormats", "CollarConfiguration",
            ],
            swiftSettings: cold),
        .target(
            name: "CollarDoctor",
            dependencies: [
                "CheckedNumbers", "CollarErrors", "LinuxSystem", "CollarWire", "CollarARQ", "CollarJournal", "CollarTracking", "CollarFormats",
                "RadioModems", "CollarConfiguration", "CollarControl", "CollarPorts", "SerialDevices",
            ],
            swiftSettings: cold),
        .target(
            name: "CollarReceiver",
            dependencies: [
                "CollarWire", "CollarARQ", "CheckedNumbers", "CollarJournal", "CollarHost", "RadioModems", "CollarErrors", "CollarFormats",
                "CLinux", "LinuxSystem", "CollarConfiguration", "CollarControl", "CollarPorts", "SerialDevices",
            ],
            swiftSettings: cold + aligned),
        .target(
            name: "LinuxBoard",
            dependencies: [
                "CollarWire", "CollarARQ", "CollarFirmware", "CheckedNumbers", "CollarErrors", "CollarTracking", "LinuxSystem", "RadioModems",
                "CollarPorts", "SerialDevices",
            ],
            swiftSettings: cold),
        .target(
            name: "CollarLink",
            dependencies: [
                "CheckedNumbers", "CollarErrors", "CLinux", "LinuxSystem", "CollarWire", "CollarARQ", "CollarTracking", "CollarJournal",
                "CollarFormats", "CollarConfiguration", "CollarControl", "CollarReaders",
            ],
            swiftSettings: strict),
        .target(
            name: "CollarLinkTesting",
            dependencies: [
                "CheckedNumbers", "CollarErrors", "LinuxSystem", "CollarWire", "CollarARQ", "CollarFirmware", "CollarTracking", "CollarJournal",
                "CollarHost", "CollarFormats", "CollarControl", "CollarSimulator", "RadioModems", "CollarLink",
            ],
            swiftSettings: strict),
        .target(name: "CBuildInformation", cSettings: commit),
        .executableTarget(
            name: "collar-link",
            dependencies: [
                "CBuildInformation", "CLinux", "LinuxSystem",
                "CheckedNumbers", "CollarWire", "CollarARQ", "CollarFirmware", "CollarJournal", "CollarHost", "CollarErrors", "CollarTracking",
                "CollarFormats", "CollarConfiguration", "CollarControl", "CollarReaders", "CollarDoctor", "RadioModems", "CollarSimulator", "CollarPorts",
                "SerialDevices", "CollarReceiver", "LinuxBoard",
            ],
            swiftSettings: cold),
        .target(
            name: "CollarWorld",
            dependencies: [
                "CollarWire", "CollarARQ", "CollarFirmware", "CollarJournal", "CollarHost", "CollarTracking", "CollarFormats", "CollarReaders",
                "RadioModems", "CollarSimulator", "CollarPorts",
            ],
            path: "Tests/CollarWorld", swiftSettings: strict),
        .target(name: "Sweeps", path: "Tests/Sweeps", swiftSettings: unoptimized),
        .executableTarget(
            name: "collar-link-borders",
            dependencies: [
                "CollarTracking", "CheckedNumbers", "CollarWire", "CollarARQ", "CollarJournal", "CollarHost", "RadioModems", "CollarSimulator",
                "CollarErrors", "CollarFormats", "CollarConfiguration", "CollarControl", "CollarReaders", "CollarDoctor", "SerialDevices", "CollarReceiver", "CollarWorld",
            ],
            path: "Tools/borders", swiftSettings: unoptimized),
        .target(
            name: "FuzzCore", dependencies: ["CollarWire", "CollarARQ", "CollarFirmware"], path: "Tools/fuzzing/FuzzCore",
            swiftSettings: portable),
        .executableTarget(
            name: "collar-link-fuzz", dependencies: ["FuzzCore", "CollarWire"], path: "Tools/fuzzing/collar-link-fuzz",
            swiftSettings: strict + [.enableExperimentalFeature("Lifetimes")]),
        .executableTarget(
            name: "collar-link-simulation", dependencies: ["CollarSimulator", "CollarWorld"],
            path: "Tools/simulation", exclude: ["planted"], swiftSettings: strict),
        .executableTarget(
            name: "collar-link-stick-pair",
            dependencies: ["CollarWire", "CollarARQ", "LinuxSystem", "SerialDevices", "RadioModems", "CollarSimulator"],
            path: "Tools/stick-pair", swiftSettings: unoptimized),
        // The examples for other packages, which build them by the address of this one.
        .executableTarget(name: "example-bell", dependencies: ["CollarLink"], path: "Tools/examples/Sources/bell", swiftSettings: unoptimized),
        .executableTarget(
            name: "example-walk", dependencies: ["CollarLink", "CollarLinkTesting"], path: "Tools/examples/Sources/walk", swiftSettings: unoptimized),
        .executableTarget(name: "example-find", dependencies: ["CollarLink"], path: "Tools/examples/Sources/find", swiftSettings: unoptimized),
        .executableTarget(name: "collar-link-reader", dependencies: ["CollarLink"], path: "Tests/Programs/reader", swiftSettings: unoptimized),
        .executableTarget(
            name: "collar-link-benchmarks", dependencies: ["CollarWire", "CollarFormats", "CollarLink"],
            path: "Tools/benchmarks/Sources/benchmarks", swiftSettings: measuring),
        .executableTarget(
            name: "collar-link-load", dependencies: ["CollarWire", "CollarJournal"],
            path: "Tools/benchmarks/Sources/load", swiftSettings: measuring),
        tests(for: "CheckedNumbers"),
        tests(for: "CollarWire", alsoUsing: ["CollarSimulator", "Sweeps"]),
        tests(for: "CollarARQ", alsoUsing: ["CollarWire"]),
        tests(for: "CollarFirmware", alsoUsing: ["CollarWire", "CollarARQ", "CollarSimulator", "Sweeps"]),
        tests(for: "CollarJournal", alsoUsing: ["CollarWire", "CollarARQ", "CollarSimulator"]),
        tests(
            for: "CollarHost",
            alsoUsing: [
                "CollarReaders", "CollarWire", "CollarARQ", "CollarTracking", "CollarJournal", "CollarFirmware", "CollarSimulator", "CollarWorld",
            ]),
        tests(for: "RadioModems", alsoUsing: ["CheckedNumbers", "CollarWire", "CollarARQ", "CollarSimulator"]),
        tests(for: "CollarSimulator", alsoUsing: ["CollarWire", "CollarARQ", "CollarFirmware", "RadioModems"]),
        tests(
            for: "CollarWorld",
            alsoUsing: [
                "CollarWire", "CollarARQ", "CollarFirmware", "CollarJournal", "CollarHost", "CollarReaders", "RadioModems", "CollarSimulator", "Sweeps",
            ]),
        tests(for: "CollarFormats", alsoUsing: ["CollarWire", "CollarHost", "CollarLink", "CollarTracking"]),
        tests(for: "CollarErrors"),
        tests(for: "CollarTracking", alsoUsing: ["LinuxSystem", "CollarWire", "CollarSimulator"]),
        tests(for: "LinuxSystem"),
        tests(
            for: "CollarConfiguration",
            alsoUsing: [
                "CollarTracking", "CollarFormats", "CollarErrors", "CollarJournal", "CollarWire", "LinuxSystem", "RadioModems", "CollarPorts", "SerialDevices",
            ]),
        tests(
            for: "CollarDoctor",
            alsoUsing: [
                "CollarWire", "CollarErrors", "LinuxSystem", "CollarTracking", "CollarFormats", "CollarConfiguration", "CollarControl", "CollarJournal",
                "SerialDevices",
            ]),
        tests(for: "CollarControl", alsoUsing: ["CollarWire", "CollarARQ", "CollarFormats", "CollarHost", "CollarJournal"]),
        tests(
            for: "CollarLink",
            alsoUsing: [
                "CollarWire", "CollarARQ", "CollarTracking", "CollarFormats", "CollarHost", "CollarJournal", "CollarReaders", "CollarControl",
                "CollarPorts", "SerialDevices", "CollarReceiver", "CollarLinkTesting", "LinuxSystem",
            ]),
        tests(
            for: "CollarReaders",
            alsoUsing: [
                "CollarErrors", "CollarTracking", "CollarWire", "CollarARQ", "CollarJournal", "CollarFormats", "CollarConfiguration", "LinuxSystem",
                "CollarSimulator", "CollarWorld",
            ]),
        tests(for: "LinuxBoard", alsoUsing: ["CollarARQ", "CollarFirmware", "CollarSimulator", "CollarWire", "LinuxSystem"]),
        tests(for: "CollarPorts", alsoUsing: ["CollarARQ", "CollarWorld"]),
        tests(for: "SerialDevices", alsoUsing: ["CollarPorts", "LinuxSystem", "CollarDoctor"]),
        tests(
            for: "CollarReceiver",
            alsoUsing: [
                "CollarWire", "CollarARQ", "LinuxSystem", "CollarTracking", "CollarJournal", "CollarHost", "RadioModems", "CollarFormats",
                "CollarConfiguration", "CollarControl", "CollarReaders",
                "CollarPorts", "SerialDevices",
            ]),
    ]
)
