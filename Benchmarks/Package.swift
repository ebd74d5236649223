// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the product gains no dependency from its benchmarks.
let package = Package(
    name: "profilelog-benchmarks",
    dependencies: [
        .package(name: "profilelog", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    ],
    targets: [
        .executableTarget(
            name: "profilelog-bench",
            dependencies: [
                .product(name: "ProfileLog", package: "profilelog"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(
            name: "profilelog-baseline",
            dependencies: [
                .product(name: "ProfileLog", package: "profilelog"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
