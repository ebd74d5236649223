// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "embedder",
    dependencies: [.package(name: "profilelog", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "Embedder", dependencies: [.product(name: "ProfileLog", package: "profilelog")], path: "Sources")
    ]
)
