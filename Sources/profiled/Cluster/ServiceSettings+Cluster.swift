internal import ArgumentParser
internal import Foundation
internal import ProfileLogReplication

extension ServiceSettings {
    /// The settings that have a meaning only with `--replicate`, by their flags; those with a default are not among
    /// them.
    private var settingsOfNode: [(flag: String, isGiven: Bool)] {
        let own: [(flag: String, isGiven: Bool)] = [
            ("node", nodeName != nil), ("node-url", nodeURL != nil), ("join", joinURL != nil),
            ("join-key-file", joinKeyFile != nil), ("stream-max-age", streamMaxAge != nil), ("max-lag", maxLag != nil),
            ("broker-monitor", brokerMonitors != nil), ("broker-user", brokerUser != nil),
            ("any-broker-version", takesAnyBroker),
        ]
        return own + filesOfNode.map { (flag: $0.flag, isGiven: $0.path != nil) }
    }

    private var filesOfNode: [(flag: String, path: String?)] {
        [
            ("join-key-file", joinKeyFile), ("node-ca", nodeCA), ("broker-password-file", brokerPasswordFile),
            ("broker-creds", brokerCredentials), ("broker-nkey-seed", brokerSeed), ("broker-tls-ca", brokerTLSCA),
            ("broker-tls-cert", brokerTLSCertificate), ("broker-tls-key", brokerTLSKey),
        ]
    }

    /// Throws if the settings of a node cannot hold together, or if a file that they name cannot be read.
    func refuseHalfCluster() throws(StartError) {
        guard brokers != nil else {
            guard let lonely = settingsOfNode.first(where: \.isGiven) else { return }
            throw StartError(
                "--\(lonely.flag) is there without --replicate.",
                remedy: "Name the brokers of the cluster with --replicate, or omit it.")
        }
        guard Self.hasReplicas else {
            throw StartError(
                "This profiled was built without replicas, so it does not know --replicate.",
                remedy: "Install the package, or build it with the trait Replicas: docs/scaling.md says how.")
        }
        if isEphemeral {
            throw StartError(
                "A store for tests is of one service alone, so --replicate has no meaning with --ephemeral.",
                remedy: "Omit one of them.")
        }
        _ = try nodeSettings()
        if joinKeyFile != nil, joinURL == nil {
            throw StartError(
                "--join-key-file is there without --join.", remedy: "Name the node to join with --join, or omit it.")
        }
        try refuseHalfCredentials()
        for file in filesOfNode {
            guard let path = file.path, access(path, R_OK) != 0 else { continue }
            throw StartError(
                unreadable: "The file of --\(file.flag),", path,
                remedy: "Check the path, and that this user may read it.")
        }
    }

    private func refuseHalfCredentials() throws(StartError) {
        for (one, other, isOne, isOther) in [
            ("broker-user", "broker-password-file", brokerUser != nil, brokerPasswordFile != nil),
            ("broker-tls-cert", "broker-tls-key", brokerTLSCertificate != nil, brokerTLSKey != nil),
        ] where isOne != isOther {
            throw StartError(
                "--\(isOne ? one : other) is there without --\(isOne ? other : one).",
                remedy: "Name both, or none.")
        }
        let kinds = [
            ("broker-user", brokerUser != nil), ("broker-creds", brokerCredentials != nil),
            ("broker-nkey-seed", brokerSeed != nil),
        ].filter { $0.1 }
        guard kinds.count < 2 else {
            throw StartError(
                "--\(kinds[0].0) and --\(kinds[1].0) are two ways to log in at the brokers.",
                remedy: "Name the one that the brokers want.")
        }
    }

    // MARK: - The node

    /// Returns what the node tells of itself.
    func nodeSettings() throws(StartError) -> ReplicaSettings {
        guard let nodeName else {
            var error = StartError(
                "--replicate is there without --node.", remedy: "Give this node a name of its own: --node NAME.")
            error.isUsage = true
            throw error
        }
        var settings = ReplicaSettings(name: nodeName, url: try nodeAddress())
        settings.version = Profiled.version
        return settings
    }

    /// The URL by which the other nodes reach this one.
    private func nodeAddress() throws(StartError) -> String {
        if let url = nodeURL ?? baseURL { return url.text }
        guard hasPort, port != 0, !["0.0.0.0", "::"].contains(host) else {
            throw StartError(
                "Other nodes cannot be told how they reach this one: --host and --port do not say it.",
                remedy: "Name the URL with --node-url.")
        }
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// The content of a file that holds a secret, without line feeds at its end.
    static func secret(_ flag: String, _ path: String) throws(StartError) -> String {
        guard let data = FileManager.default.contents(atPath: path),
            let text = String(data: data, encoding: .utf8)?.trimmingCharacters(in: .whitespacesAndNewlines)
        else {
            throw StartError(
                unreadable: "The file of --\(flag),", path, remedy: "Check the path, and that this user may read it.")
        }
        guard !text.isEmpty else {
            throw StartError("The file of --\(flag), \(path), is empty.", remedy: "Put the secret into it.")
        }
        return text
    }
}
