// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the product gains no dependency from its benchmarks.
let package = Package(
    name: "profilelog-benchmarks",
    dependencies: [
        .package(name: "profilelog", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "profilelog-bench",
            dependencies: [
                .product(name: "ProfileLog", package: "profilelog"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
