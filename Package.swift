// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Not `Context.gitInformation`: SwiftPM keeps what a manifest gave, and would name an old commit.
let commit = (Context.environment["PROFILELOG_COMMIT"] ?? "").filter {
    $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
}

let package = Package(
    name: "profilelog",
    products: [
        .library(name: "ProfileLog", targets: ["ProfileLog"]),
        .library(name: "ProfileLogTesting", targets: ["ProfileLogTesting"]),
        .executable(name: "profilecli", targets: ["profilecli"]),
        .executable(name: "profiled", targets: ["profiled"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
        .systemLibrary(name: "CMalloc", path: "Sources/profiled/CMalloc"),
        .target(name: "CConsole", path: "Sources/profiled/CConsole"),
        .target(
            name: "CProgram", path: "Sources/profiled/CProgram",
            cSettings: [.define("PROFILELOG_COMMIT", to: "\"\(commit)\"")]),
        .systemLibrary(
            name: "CCurl", path: "Sources/profilecli/CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(name: "CWidth", path: "Sources/profilecli/CWidth"),
        .systemLibrary(name: "CZlib", path: "Sources/profilecli/CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CCRC32C", path: "Sources/ProfileLog/Records/CCRC32C"),
        .systemLibrary(
            name: "CLibcrypto", path: "Sources/ProfileLog/Records/CLibcrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
        .target(name: "ProfileLogFacts", path: "Sources/ProfileLog/Facts", swiftSettings: settings),
        .target(
            name: "ProfileLogRecords",
            dependencies: ["CCRC32C", "CLibcrypto", "ProfileLogFacts"],
            path: "Sources/ProfileLog/Records", exclude: ["CCRC32C", "CLibcrypto", "record.proto"],
            swiftSettings: settings),
        .target(
            name: "ProfileLogFolds", dependencies: ["CPrefetch", "ProfileLogRecords"], path: "Sources/ProfileLog/Folds",
            swiftSettings: settings),
        .target(
            name: "ProfileLogMachines", dependencies: ["ProfileLogFolds"], path: "Sources/ProfileLog/Machines",
            swiftSettings: settings),
        .systemLibrary(name: "CFiles", path: "Sources/ProfileLog/Store/CFiles"),
        .systemLibrary(name: "CPrefetch", path: "Sources/ProfileLog/Store/CPrefetch"),
        .target(
            name: "ProfileLogStore", dependencies: ["CLMDB", "CPrefetch", "CFiles", "ProfileLogFacts"],
            path: "Sources/ProfileLog/Store", exclude: ["CPrefetch", "CFiles"], swiftSettings: settings),
        .target(
            name: "ProfileLogLog",
            dependencies: ["ProfileLogMachines", "ProfileLogStore"],
            path: "Sources/ProfileLog/Log", swiftSettings: settings),
        .target(
            name: "ProfileLogReplay",
            dependencies: ["ProfileLogLog"],
            path: "Sources/ProfileLog/Replay", swiftSettings: settings),
        .target(
            name: "ProfileLogBackup", dependencies: ["ProfileLogReplay"], path: "Sources/ProfileLog/Backup",
            swiftSettings: settings),
        .target(
            name: "ProfileLogReplication", dependencies: ["ProfileLogLog"], path: "Sources/ProfileLog/Replication",
            swiftSettings: settings),
        .systemLibrary(
            name: "CNATS", path: "Sources/ProfileLog/NATS/CNATS", pkgConfig: "libnats",
            providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
        .target(
            name: "ProfileLogNATS", dependencies: ["CLibcrypto", "CNATS", "ProfileLogReplication"],
            path: "Sources/ProfileLog/NATS", exclude: ["CNATS"], swiftSettings: settings),
        .target(
            name: "ProfileLogSnippets", dependencies: ["ProfileLogReplay"], path: "Sources/ProfileLog/Snippets",
            swiftSettings: settings),
        .target(
            name: "ProfileLog", dependencies: ["ProfileLogSnippets"], path: "Sources/ProfileLog/ProfileLog",
            swiftSettings: settings),
        .target(name: "CFolding", path: "Sources/ProfileLog/Testing/CFolding"),
        .target(
            name: "ProfileLogTesting", dependencies: ["CFolding", "ProfileLog"], path: "Sources/ProfileLog/Testing",
            exclude: ["CFolding"], swiftSettings: settings),
        .target(
            name: "ProfileLogDocuments",
            dependencies: ["ProfileLogSnippets", .product(name: "Yams", package: "Yams")],
            path: "Sources/ProfileLog/Documents", swiftSettings: settings),
        .target(
            name: "ProfileLogMessaging", dependencies: ["ProfileLogFolds"], path: "Sources/ProfileLog/Messaging",
            swiftSettings: settings),
        .target(
            name: "ProfileLogRequests", dependencies: ["ProfileLogDocuments"], path: "Sources/ProfileLog/Requests",
            swiftSettings: settings),
        .target(
            name: "ProfileLogNativeAPI", dependencies: ["ProfileLogRequests"], path: "Sources/ProfileLog/NativeAPI",
            swiftSettings: settings),
        .target(
            name: "ProfileLogBrazeAPI", dependencies: ["ProfileLogMessaging", "ProfileLogRequests"],
            path: "Sources/ProfileLog/BrazeAPI", swiftSettings: settings),
        .executableTarget(
            name: "profilecli",
            dependencies: [
                "CCurl", "CProgram", "CWidth", "CZlib", "ProfileLog", "ProfileLogBackup", "ProfileLogBrazeAPI",
                "ProfileLogNativeAPI",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["CCurl", "CWidth", "CZlib"], swiftSettings: settings),
        .executableTarget(
            name: "profiled",
            dependencies: [
                "CConsole", "CMalloc", "CProgram", "CZlib", "ProfileLog", "ProfileLogBackup", "ProfileLogBrazeAPI",
                "ProfileLogNativeAPI", "ProfileLogReplication",
                .target(name: "ProfileLogNATS", condition: .when(traits: ["Replicas"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCertificateReloading", package: "swift-nio-extras"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            exclude: ["CConsole", "CMalloc", "CProgram", "Console"], swiftSettings: settings),
        .systemLibrary(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "TestSupport", dependencies: ["CSpawn", "ProfileLog", "ProfileLogReplication"], path: "Tests/Support",
            swiftSettings: settings),
        .testTarget(
            name: "CLITests", dependencies: ["ProfileLog", "ProfileLogNativeAPI", "TestSupport"],
            swiftSettings: settings),
        .executableTarget(
            name: "profilelog-crashchild", dependencies: ["ProfileLog"], path: "Tests/CrashChild",
            swiftSettings: settings),
        .testTarget(
            name: "CrashTests", dependencies: ["ProfileLog", "ProfileLogBackup", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "CZlib", "ProfileLogBackup", "ProfileLogBrazeAPI", "ProfileLogNativeAPI", "ProfileLog", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ReplicationTests",
            dependencies: [
                "ProfileLog", "ProfileLogNativeAPI", "ProfileLogReplication", "ProfileLogRequests", "ProfileLogTesting",
                "TestSupport",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "profilelog-bench",
            dependencies: ["ProfileLog", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Benchmarks/Sources/profilelog-bench"),
        .executableTarget(
            name: "profilelog-baseline",
            dependencies: [
                "ProfileLog",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/Sources/profilelog-baseline"),
        .executableTarget(
            name: "ServiceLoop", dependencies: ["ProfileLog"], path: "Examples/ServiceLoop/Sources",
            packageAccess: false),
        .executableTarget(
            name: "OwnProjection", dependencies: ["ProfileLog"], path: "Examples/OwnProjection/Sources",
            packageAccess: false),
        .executableTarget(
            name: "PastQuestions", dependencies: ["ProfileLog"], path: "Examples/PastQuestions/Sources",
            packageAccess: false),
        .executableTarget(
            name: "DevicePair", dependencies: ["ProfileLog"], path: "Examples/DevicePair/Sources",
            packageAccess: false),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "DevicePair", "OwnProjection", "PastQuestions", "ProfileLog", "ProfileLogTesting", "ServiceLoop",
                "TestSupport",
            ],
            packageAccess: false),
        .testTarget(
            name: "EmbeddingTests", dependencies: ["ProfileLog", "ProfileLogTesting", "TestSupport"],
            packageAccess: false, swiftSettings: settings),
        .testTarget(
            name: "ProfileLogTests",
            dependencies: [
                "ProfileLog", "ProfileLogBackup", "ProfileLogMachines", "ProfileLogMessaging", "ProfileLogReplication",
                "TestSupport", .target(name: "ProfileLogNATS", condition: .when(traits: ["Replicas"])),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)

// An embedder needs no package: with `traits: []` SwiftPM fetches none.
package.traits = [
    .trait(name: "Programs", description: "What profilecli and profiled use."),
    .trait(
        name: "Replicas",
        description: "`profiled --replicate`: several nodes serve one store over NATS JetStream. Needs libnats."),
    .default(enabledTraits: ["Programs", "Replicas"]),
]
for target in package.targets {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let package, let aliases, nil) = dependency else { return dependency }
        return .productItem(
            name: name, package: package, moduleAliases: aliases, condition: .when(traits: ["Programs"]))
    }
}
