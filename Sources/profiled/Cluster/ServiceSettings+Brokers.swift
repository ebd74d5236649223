internal import ProfileLogNativeAPI
internal import ProfileLogReplication

#if Replicas
    internal import AsyncHTTPClient
    internal import NIOCore
    internal import NIOHTTP1
    internal import ProfileLogNATS
#endif

/// The stream of the brokers, in a program that was built with the trait Replicas.
extension ServiceSettings {
    #if Replicas
        static let hasReplicas = true

        /// The stream that the settings name. It connects by itself.
        func batchStream(_ monitors: BrokerMonitors) throws -> any BatchStream {
            var settings = NATSSettings(servers: brokers?.urls ?? [], cluster: clusterName)
            settings.client = "profilelog-\(nodeName ?? "")"
            settings.replicas = replicas
            settings.maxAge = streamMaxAge?.duration
            settings.anyVersion = takesAnyBroker
            settings.user = brokerUser
            if let path = brokerPasswordFile {
                settings.password = try Self.secret("broker-password-file", path)
            }
            settings.credentialsFile = brokerCredentials
            settings.nkeySeedFile = brokerSeed
            settings.certificateAuthorityFile = brokerTLSCA
            settings.certificateFile = brokerTLSCertificate
            settings.keyFile = brokerTLSKey
            settings.monitors = brokerMonitors?.urls ?? []
            settings.monitor = { monitors.content(of: $0) }
            return try NATSStream(settings)
        }

        /// The monitoring ports that the settings name.
        var monitors: BrokerMonitors { BrokerMonitors(brokerMonitors?.urls ?? []) { Self.content(of: $0) } }

        private static let monitorTimeout = TimeAmount.milliseconds(500)

        /// The body at `url`; nil if there is no answer. Blocks its thread.
        private static func content(of url: String) -> [UInt8]? {
            guard
                let answer = try? HTTPClient.shared.get(url: url, deadline: NIODeadline.now() + monitorTimeout).wait(),
                answer.status == .ok, let body = answer.body
            else { return nil }
            return Array(body.readableBytesView)
        }
    #else
        static let hasReplicas = false

        var monitors: BrokerMonitors { BrokerMonitors([]) { _ in nil } }

        /// No settings lead here: ``refuseHalfCluster()`` comes first.
        func batchStream(_ monitors: BrokerMonitors) throws -> any BatchStream {
            throw StreamError(
                .unfit, "This profiled was built without replicas.", remedy: "Build it with the trait Replicas.")
        }
    #endif
}
