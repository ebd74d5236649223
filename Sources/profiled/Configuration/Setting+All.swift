internal import Logging
internal import ProfileLogReplication
internal import ProfileLogRequests

extension Setting {
    /// All settings, in the order of docs/configuration.md, which `PROFILELOG_WRITE_DOCS=1` writes from this table.
    ///
    /// A new one needs a row here, a property of ``ServiceSettings`` with its default, and an option of
    /// ``ServiceOptions``, whose name and help come from the row. A row that `reloads` also needs a ``ReloadHook``,
    /// unless what uses it asks ``LiveSettings`` each time. A secret is no setting: name a file that holds it.
    /// So the configuration can be kept in a backup.
    static let all: [Setting] = [
        store, network, content, limits, tls, backup, cluster, brokers, messages,
    ].flatMap(\.self)

    private static let store: [Setting] = [
        Setting(
            "store", \.store, given: \.store?.store,
            Words(
                help: "The folder of the store.", rule: textRule, flagRule: emptyRule,
                defaultNote: "$PROFILELOG_STORE, or ./profilelog")
        ) { !$0.isEmpty },
        file(
            "keys", \.keys, given: \.store?.keys, defaultNote: "keys.json in the store's folder",
            "The file of the keys."),
        Setting(
            "expect-store", \.expectsStore, given: \.service?.storeExpected,
            Words(
                help: "Refuse to start where there is no store, instead of making one: its disk may not be mounted.",
                rule: "must be true or false")),
        Setting(
            "ephemeral", \.isEphemeral, given: \.service?.ephemeral,
            Words(
                help: "Serve a store for tests, in a temporary folder that is removed at the end; /v1/reset and "
                    + "/v1/clock work.", rule: "must be true or false")),
    ]

    private static let network: [Setting] = [
        number(
            "port", \.port, given: \.service?.port, in: 0...65_535, "The TCP port; 0 takes any that is free."),
        Setting(
            "host", \.host, given: \.service?.host,
            Words(
                help: "The address to listen on; one that other machines can reach needs keys; none listens on --unix "
                    + "alone.", rule: textRule, flagRule: emptyRule)
        ) { !$0.isEmpty },
        file(
            "port-file", \.portFile, given: \.service?.portFile,
            "A file to write the port into when the service is ready."),
        Setting(
            "base-url", ofOptional: \.baseURL, given: \.service?.baseURL,
            Words(
                help: "The URL by which clients reach the service, for links in answers; without it links are "
                    + "relative.", valueName: "url",
                rule: "must be a URL as https://profiles.example/path, without a user")),
        Setting(
            "cors", \.crossOrigins, given: \.service?.givenCrossOrigins,
            Words(
                help: "An origin whose pages may read and write here by script, with a key where keys are needed; "
                    + "repeatable.", valueName: "origin",
                rule: "must be an origin as https://app.example:8443, without a path; * is none", reloads: true)),
        file(
            "socket", flag: "unix", \.socket, given: \.service?.socket,
            "A unix socket to listen on as well, for who may write to the file: the user and the group."),
        Setting(
            "admin-port", ofOptional: \.adminPort, given: \.service?.adminPort,
            Words(
                help: "A port for /health and /metrics alone, without keys; 0 takes any that is free. /metrics "
                    + "then leaves the main port.", rule: "must be a whole number from 0 to 65535",
                flagRule: "must be from 0 to 65535")
        ) { (0...65_535).contains($0) },
        Setting(
            "admin-host", \.adminHost, given: \.service?.adminHost,
            Words(help: "The address of --admin-port.", rule: textRule, flagRule: emptyRule)
        ) { !$0.isEmpty },
    ]

    private static let content: [Setting] = [
        file(
            "fixtures", \.fixtures, given: \.service?.fixtures,
            "JSON Lines to store at the start, as for profilecli import."),
        file(
            "console", \.console, given: \.service?.console, value: "folder",
            "Serve the console from this folder, for work on its files, instead of those in the program."),
        file(
            "workspace", \.workspace, given: \.service?.workspace,
            "The setup of a Braze workspace, in YAML: docs/workspace.md."),
    ]

    private static let limits: [Setting] = [
        Setting(
            "rate-limits", flag: "rate-limit", \.rateLimits, given: \.service?.givenRateLimits,
            Words(
                help: "A limit for /users/track, or with PATH= or PATH,PATH= before it for these paths together; "
                    + "repeatable.", valueName: "requests/seconds",
                rule: "must be REQUESTS/SECONDS, with PATH= or PATH,PATH= of endpoints before it", reloads: true)
        ) { $0.flatMap(\.paths).allSatisfy(isEndpoint) },
        number(
            "limits.connections", flag: "max-connections", \.maxConnections, given: \.service?.maxConnections,
            in: 1...86_400, value: "count", reloads: true,
            "Connections open at once; idle ones give way to new ones."),
        number(
            "limits.connections-per-address", flag: "max-connections-per-address", \.maxConnectionsPerAddress,
            given: \.service?.maxConnectionsPerAddress, in: 1...86_400, value: "count", reloads: true,
            "Connections of one client address."),
        number(
            "limits.streams", flag: "max-streams", \.maxStreams, given: \.service?.maxStreams, in: 1...86_400,
            value: "count",
            reloads: true, "Readers of /v1/events open at once."),
        number(
            "limits.body-memory", flag: "body-memory", \.bodyMemoryMebibytes, given: \.service?.bodyMemoryMebibytes,
            in: 1...86_400, value: "mebibytes", reloads: true, "Memory for all bodies that are being read."),
        seconds(
            "timeouts.heartbeat", flag: "heartbeat", \.heartbeat, given: \.service?.heartbeat, reloads: true,
            "How often a silent stream of events sends a comment."),
        seconds(
            "timeouts.body", flag: "body-timeout", \.bodyTimeout, given: \.service?.bodyTimeout, reloads: true,
            "How long a request may take to arrive."),
        seconds(
            "timeouts.idle", flag: "idle-timeout", \.idleTimeout, given: \.service?.idleTimeout, reloads: true,
            "How long a connection may be silent between requests, or within one."),
        seconds(
            "timeouts.read", flag: "read-timeout", \.readTimeout, given: \.service?.readTimeout, reloads: true,
            "How long the answer to a read may take; then it is 503."),
    ]

    /// The files' content is read again at SIGHUP; other names of files need a restart.
    private static let tls: [Setting] = [
        file(
            "tls.certificate", \.tlsCertificate, given: \.service?.tlsCertificate,
            "Speak HTTPS with this certificate, and those that it rests on after it, in PEM."),
        file("tls.key", \.tlsKey, given: \.service?.tlsKey, "The private key of the certificate, in PEM."),
        file(
            "tls.client-ca", \.tlsClientCA, given: \.service?.tlsClientCA,
            "Take clients with a certificate that one of these has signed; its name may be that of a key."),
        Setting(
            "tls.client-auth", \.tlsClientAuth, given: \.service?.tlsClientAuth,
            Words(
                help: "required, or optional: then a client may come without a certificate.",
                rule: "must be required or optional")),
    ]

    private static let backup: [Setting] = [
        file(
            "backup.folder", flag: "backup", \.backupFolder, given: \.service?.backupFolder, value: "folder",
            "Back the store up into this folder while the service runs."),
        Setting(
            "backup.expect", \.expectsBackup, given: \.service?.backupExpected,
            Words(
                help: "Begin no new backup where none is: count a failure, as its disk may not be mounted.",
                rule: "must be true or false", reloads: true)),
        seconds(
            "backup.every", \.backupEvery, given: \.service?.backupEvery, in: 1...31_536_000, reloads: true,
            "How long after a backup the next one begins: 30s, 1m, 24h."),
        seconds(
            "backup.verify-every", \.backupVerifyEvery, given: \.service?.backupVerifyEvery, in: 1...31_536_000,
            reloads: true, "How often the backup is read whole and compared."),
    ]

    private static let cluster: [Setting] = [
        Setting(
            "cluster.replicate", flag: "replicate", ofOptional: \.brokers, given: \.service?.brokers,
            Words(
                help: "Serve the store together with other nodes, by these brokers (NATS JetStream): docs/scaling.md.",
                valueName: "url,...", rule: "must be brokers as nats://a,b:4223,c or tls://a,b,c, without a user")),
        Setting(
            "cluster.node", flag: "node", ofOptional: \.nodeName, given: \.service?.nodeName,
            Words(help: "The name of this node, of its own in the cluster.", valueName: "name", rule: ClusterName.rule)
        ) { ClusterName.isName($0) },
        Setting(
            "cluster.node-url", flag: "node-url", ofOptional: \.nodeURL, given: \.service?.nodeURL,
            Words(
                help: "The URL by which the other nodes reach this one.", valueName: "url",
                rule: "must be a URL as https://a.example:8080, without a user",
                defaultNote: "--base-url, or the host and the port")),
        file(
            "cluster.node-ca", flag: "node-ca", \.nodeCA, given: \.service?.nodeCA,
            "The authorities of the other nodes' certificates, in PEM; those of the system without it."),
        Setting(
            "cluster.name", flag: "cluster", \.clusterName, given: \.service?.clusterName,
            Words(
                help: "The name of the cluster: its stream at the brokers is profilelog-NAME.", valueName: "name",
                rule: ClusterName.rule)
        ) { ClusterName.isName($0) },
        Setting(
            "cluster.join", flag: "join", ofOptional: \.joinURL, given: \.service?.joinURL,
            Words(
                help: "If the folder is empty, begin with a copy of the store of the node at this URL.",
                valueName: "url", rule: "must be a URL as https://a.example:8080, without a user")),
        file(
            "cluster.join-key-file", flag: "join-key-file", \.joinKeyFile, given: \.service?.joinKeyFile,
            "A file with a key of that node's service, of the permission v1.cluster."),
        number(
            "cluster.replicas", flag: "replicas", \.replicas, given: \.service?.replicas, in: 1...5, value: "count",
            "The brokers that keep each batch; 1 is for trials: what its disk loses is lost."),
        optionalSeconds(
            "cluster.stream-max-age", flag: "stream-max-age", \.streamMaxAge, given: \.service?.streamMaxAge,
            in: 60...315_360_000,
            "How long a stream that this node makes keeps a batch; without it always. `profilecli cluster stream` changes it."
        ),
        optionalSeconds(
            "cluster.max-lag", flag: "max-lag", \.maxLag, given: \.service?.maxLag, reloads: true,
            "How far the store may lag behind the cluster; beyond, reads are answered with 503."),
    ]

    private static let brokers: [Setting] = [
        Setting(
            "broker.monitor", ofOptional: \.brokerMonitors, given: \.service?.brokerMonitors,
            Words(
                help: "The monitor addresses of the brokers, to see whether they sync each message to the disk.",
                valueName: "url,...", rule: "must be URLs as http://a:8222, with commas between them")),
        Setting(
            "broker.user", ofOptional: \.brokerUser, given: \.service?.brokerUser,
            Words(help: "The user at the brokers.", valueName: "name", rule: textRule, flagRule: emptyRule)
        ) { !$0.isEmpty },
        file(
            "broker.password-file", \.brokerPasswordFile, given: \.service?.brokerPasswordFile,
            "A file with the user's password."),
        file(
            "broker.creds", \.brokerCredentials, given: \.service?.brokerCredentials,
            "A file of credentials (JWT and seed) for the brokers."),
        file(
            "broker.nkey-seed", \.brokerSeed, given: \.service?.brokerSeed,
            "A file with the seed of an nkey for the brokers."),
        file(
            "broker.tls-ca", \.brokerTLSCA, given: \.service?.brokerTLSCA,
            "The authorities of which one has signed the brokers' certificates, in PEM; without it those of the system."
        ),
        file(
            "broker.tls-cert", \.brokerTLSCertificate, given: \.service?.brokerTLSCertificate,
            "The certificate of this node for the brokers, in PEM."),
        file(
            "broker.tls-key", \.brokerTLSKey, given: \.service?.brokerTLSKey,
            "The private key of that certificate, in PEM."),
        Setting(
            "broker.any-version", flag: "any-broker-version", \.takesAnyBroker, given: \.service?.anyBroker,
            Words(
                help: "Take brokers older than nats-server 2.15.1, with which nothing was tested.",
                rule: "must be true or false")),
    ]

    private static let messages: [Setting] = [
        Setting(
            "log.level", \.logLevel, given: \.service?.logLevel,
            Words(
                help: "trace, debug, info (each request), notice, warning, error or critical.",
                rule: "must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))", reloads: true)
        ) { Logger.Level(rawValue: $0) != nil },
        Setting(
            "log.format", \.logFormat, given: \.service?.logFormat,
            Words(help: "text or json.", rule: "must be text or json")),
        number(
            "log.slow-request", flag: "slow-request", \.slowRequestMilliseconds,
            given: \.service?.slowRequestMilliseconds, in: 0...86_400_000, value: "milliseconds", reloads: true,
            "Log a request that takes at least so long, with its phases; 0 logs none."),
    ]

    static func isEndpoint(_ path: String) -> Bool { API.table.endpoints.contains { $0.path == path } }
}
