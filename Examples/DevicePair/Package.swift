// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "device-pair",
    dependencies: [.package(name: "profilelog", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "DevicePair", dependencies: [.product(name: "ProfileLog", package: "profilelog")], path: "Sources")
    ]
)
