// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "past-questions",
    dependencies: [.package(name: "profilelog", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "PastQuestions", dependencies: [.product(name: "ProfileLog", package: "profilelog")], path: "Sources")
    ]
)
