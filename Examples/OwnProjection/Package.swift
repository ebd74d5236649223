// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "own-projection",
    dependencies: [.package(name: "profilelog", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "OwnProjection", dependencies: [.product(name: "ProfileLog", package: "profilelog")], path: "Sources")
    ]
)
