internal import Glibc
internal import ProfileLogReplication

/// The settings of a cluster's brokers and of its stream, as an operator gives them.
package struct NATSSettings: Sendable {
    /// The URLs of the brokers, `nats://host:4222` or `tls://host:4222`. They are tried in this order, from
    /// ``firstServer`` on.
    package var servers: [String]
    /// The cluster's name (``ClusterName``).
    package var cluster: String
    /// The name under which the brokers list the connection.
    package var client = "profilelog"
    /// The copies of the stream, each on a broker of its own.
    package var replicas = 3
    /// The time for which the brokers keep a message; nil: for ever.
    package var maxAge: Duration?
    /// Takes brokers older than those that were tested.
    package var anyVersion = false

    package var user: String?
    package var password: String?
    /// A file of NATS with a JWT and its seed.
    package var credentialsFile: String?
    /// A file with the seed of an NKey of a user.
    package var nkeySeedFile: String?
    /// Certificates in PEM that sign those of the brokers; nil: those of the system.
    package var certificateAuthorityFile: String?
    /// The certificate of this node for the brokers, in PEM, and its key.
    package var certificateFile: String?
    package var keyFile: String?

    /// The URLs of the brokers' monitoring ports, as `http://host:8222`.
    package var monitors: [String] = []
    /// Gives the body of a GET of a URL; nil if there is no answer. It may block for half a second.
    package var monitor: (@Sendable (_ url: String) -> [UInt8]?)?

    package init(servers: [String], cluster: String = "profilelog") {
        (self.servers, self.cluster) = (servers, cluster)
    }

    /// The index of the broker at which this node begins. Nodes with one list sit at different brokers, if their names
    /// count up (`a`, `b`, `c`; `node-1`, `node-2`): a broker that dies takes the connection of few of them.
    var firstServer: Int { client.utf8.reduce(0) { $0 + Int($1) } % servers.count }

    // MARK: - Names

    /// The stream's name.
    package var stream: String { "profilelog-\(cluster)" }
    /// The subject of the stream's messages.
    package var subject: String { "profilelog.\(cluster).batches" }
    /// The subject of the nodes' notes, which no stream keeps.
    package var notes: String { "profilelog.\(cluster).notes" }

    // MARK: - Faults

    /// Finds what is wrong before any broker is asked.
    func check() throws(StreamError) {
        guard !servers.isEmpty else {
            throw StreamError(.unfit, "No broker is named.", remedy: "Name three, as nats://a:4222,b:4222,c:4222.")
        }
        guard ClusterName.isName(cluster) else {
            throw StreamError(
                .unfit, "\"\(cluster)\" is no name of a cluster.", remedy: "It \(ClusterName.rule).")
        }
        guard 1...5 ~= replicas else {
            throw StreamError(
                .unfit, "A stream cannot have \(replicas) replicas.", remedy: "Use 3 or 5; 1 is for trials only.")
        }
        guard maxAge.map({ $0 >= .seconds(60) }) ?? true else {
            throw StreamError(
                .unfit, "The brokers would drop batches before a node that restarts can read them.",
                remedy: "Let the stream keep messages for at least a minute; days are usual.")
        }
        guard (certificateFile == nil) == (keyFile == nil) else {
            throw StreamError(
                .unfit, "A certificate for the brokers needs a key, and a key a certificate.",
                remedy: "Name both files, or none.")
        }
        for file in [credentialsFile, nkeySeedFile, certificateAuthorityFile, certificateFile, keyFile] {
            guard let file, access(file, R_OK) != 0 else { continue }
            throw StreamError(
                .unfit, "\(file) cannot be read: \(String(cString: strerror(errno))).",
                remedy: "Name a file that this user may read.")
        }
    }

    /// Tells whether a connection to `server` is encrypted.
    func isEncrypted(_ server: String) -> Bool {
        server.hasPrefix("tls://") || certificateAuthorityFile != nil || certificateFile != nil
    }

    /// Host and port of the URL `server`, without a user and a password.
    static func address(of server: String) -> String {
        let rest = server.firstRange(of: "://").map { server[$0.upperBound...] } ?? server[...]
        let address = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        // The colons of an IPv6 address are between brackets.
        let hasPort = address.last != "]" && address.split(separator: "]").last?.contains(":") == true
        return hasPort ? String(address) : "\(address):4222"
    }
}
