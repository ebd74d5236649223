internal import ProfileLogFacts
internal import ProfileLogRecords
internal import ProfileLogReplication

/// Reads the answers of JetStream's API. Errors have a number of their own (errors.json of nats-server).
enum JetStreamAnswer {
    /// The answer, if it is no error.
    static func read(_ bytes: [UInt8], _ settings: NATSSettings) throws(StreamError) -> AttributeValue {
        guard let answer = try? JSON.parse(bytes) else { throw unreadable }
        guard let error = answer.present("error") else { return answer }
        let text = error["description"]?.asText ?? "no reason given"
        throw meaning(
            error["err_code"]?.asInteger ?? 0, status: error["code"]?.asInteger ?? 0, text, settings)
    }

    static let unreadable = StreamError(
        .unreachable, "The brokers' answer cannot be read.", remedy: "Look at the brokers' logs; the node asks again.")

    /// No broker has subscribed to the API for the account of this connection.
    static func isOff(_ broker: String) -> StreamError {
        StreamError(
            .unfit, "JetStream is off at broker \(broker), or for this account.",
            remedy: "Configure it: jetstream { store_dir: …, sync_interval: always }, and enable it for the account.")
    }

    private static func meaning(
        _ code: Int64, status: Int64, _ text: String, _ settings: NATSSettings
    ) -> StreamError {
        switch code {
        case 10059:
            StreamError(
                .missing, "There is no stream \(settings.stream) on the brokers.",
                remedy: "If it was deleted, make it again from a node's store: profilecli cluster rebuild.")
        case 10039, 10076:
            StreamError(
                .unfit, "JetStream is off for this account.", remedy: "Enable it for the account at each broker.")
        case 10058, 10065:
            StreamError(
                .unfit, "The brokers have a stream of that name or subject with another configuration: \(text).",
                remedy: "Look at it: nats stream info \(settings.stream); or choose another --cluster.")
        case 10005, 10074:
            StreamError(
                .unfit, "The brokers are fewer than the \(settings.replicas) replicas of the stream: \(text).",
                remedy: "Start \(settings.replicas) brokers as one cluster; for a trial, start the nodes with "
                    + "--replicas 1.")
        case 10023, 10047, 10028, 10002, 10027:
            StreamError(
                .unfit, "The brokers have no room for the stream: \(text).",
                remedy: "Raise max_file_store of the brokers, or the account's limits.")
        // No leader of the brokers or of the stream, by number or by class.
        case 10004, 10007, 10008, 10009: unsettled(code, text)
        default:
            400..<500 ~= status
                ? StreamError(
                    .unfit, "The brokers refuse it: \(text) (\(code)).", remedy: "Look at the brokers' configuration.")
                : unsettled(code, text)
        }
    }

    private static func unsettled(_ code: Int64, _ text: String) -> StreamError {
        StreamError(
            .unreachable, "The brokers cannot answer now: \(text) (\(code)).",
            remedy: "Look whether a majority of the brokers is up and has a leader; the node goes on trying.")
    }
}
