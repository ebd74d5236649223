internal import ProfileLogFacts
internal import ProfileLogRecords
internal import ProfileLogReplication

/// The answer of a broker's monitoring port (nats-server: `Varz` in monitor.go): there alone it says whether it syncs
/// each write.
struct BrokerReport {
    private let name: String
    private let answer: AttributeValue

    /// Reads the body of `/varz`; nil if it is none.
    init?(_ body: [UInt8], from monitor: String) {
        guard let answer = try? JSON.parse(body), let version = answer["version"]?.asText, !version.isEmpty else {
            return nil
        }
        self.answer = answer
        name = answer["server_name"]?.asText ?? monitor
    }

    func faults(anyVersion: Bool) -> [StreamError] {
        guard let jetStream = answer["jetstream"]?["config"] else {
            return [
                StreamError(
                    .unfit, "JetStream is off at broker \(name).", remedy: "Configure it: jetstream { store_dir: … }.")
            ]
        }
        var faults: [StreamError] = []
        if jetStream["sync_always"]?.asFlag != true {
            faults.append(
                StreamError(
                    .unfit, "Broker \(name) acknowledges batches before they are on its disk.",
                    remedy: "Write sync_interval: always into its jetstream block, and start it again."))
        }
        if let payload = answer["max_payload"]?.asInteger, payload < StreamConfiguration.leastPayload {
            faults.append(.payload(Int(payload), at: name))
        }
        if let version = answer["version"]?.asText, !anyVersion { faults += [StreamError].version(version, at: name) }
        return faults
    }
}

extension StreamError {
    static func payload(_ bytes: Int, at broker: String) -> StreamError {
        StreamError(
            .unfit, "Broker \(broker) takes messages of at most \(bytes) bytes.",
            remedy: "Write max_payload: 8MB into the configuration of each broker, and start them again, one by one.")
    }
}

extension [StreamError] {
    /// The fault of a version that is too old, if it is.
    static func version(_ version: String, at broker: String) -> [StreamError] {
        guard BrokerVersion(version) < BrokerVersion(StreamConfiguration.oldestVersion) else { return [] }
        return [
            StreamError(
                .unfit, "Broker \(broker) is of version \(version).",
                remedy: "Use nats-server \(StreamConfiguration.oldestVersion) or later; --any-broker-version takes an "
                    + "older one, with which nothing was tested.")
        ]
    }
}
