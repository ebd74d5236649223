// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "service-loop",
    dependencies: [.package(name: "profilelog", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "ServiceLoop", dependencies: [.product(name: "ProfileLog", package: "profilelog")], path: "Sources")
    ]
)
