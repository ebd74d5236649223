#if Replicas
    import ProfileLogFacts
    import ProfileLogRecords
    import ProfileLogReplication
    import Testing

    @testable import ProfileLogNATS

    @Suite("Configuration of the stream")
    struct StreamConfigurationTests {
        private static let settings = {
            var settings = NATSSettings(servers: ["nats://a"])
            settings.maxAge = .seconds(86_400)
            return settings
        }()

        private var configuration: StreamConfiguration { StreamConfiguration(settings: Self.settings) }

        /// The configuration that is asked for, with other members.
        private func changed(_ members: [String: AttributeValue]) throws -> AttributeValue {
            guard case .object(let own) = try JSON.parse(configuration.json(first: 1)) else { throw Failure() }
            let kept = own.filter { members[$0.key.text] == nil }
            let other = members.map { AttributeValue.Member(Name($0.key), $0.value) }
            guard let value = AttributeValue.object(sorting: kept + other) else { throw Failure() }
            return value
        }

        private struct Failure: Error {}

        @Test("The stream as it is asked for has no fault")
        func ownConfiguration() throws {
            #expect(configuration.faults(of: try changed([:])) == [])
            #expect(configuration.faults(of: try changed(["max_msg_size": 8_388_608, "compression": "s2"])) == [])
        }

        @Test(
            "Each deviation of a stream is one fault that names the stream",
            arguments: [
                ("subjects", AttributeValue.array(["other"])), ("num_replicas", 1), ("storage", "memory"),
                ("retention", "workqueue"), ("persist_mode", "async"), ("discard", "old"), ("deny_delete", false),
                ("deny_purge", false), ("allow_rollup_hdrs", true), ("allow_direct", false), ("no_ack", true),
                ("sealed", true), ("allow_msg_counter", true), ("sources", .array([.object([])])), ("max_msgs", 5),
                ("max_bytes", 1_000_000), ("max_msgs_per_subject", 1), ("max_msg_size", 1000),
            ])
        func deviation(key: String, value: AttributeValue) throws {
            let faults = configuration.faults(of: try changed([key: value]))
            #expect(faults.count == 1)
            #expect(faults.allSatisfy { $0.kind == .unfit && $0.sentence.contains("profilelog-profilelog") })
            #expect(faults.allSatisfy { !$0.remedy.isEmpty })
        }

        @Test("Another age of batches is no fault of the stream, and changing it leaves all else as it is")
        func age() throws {
            let metadata = AttributeValue.object([AttributeValue.Member("_nats.ver", "2.15.1")])
            let found = try changed(["max_age": 0, "metadata": metadata])
            #expect(configuration.faults(of: found) == [])
            for (age, nanoseconds) in [(.seconds(604_800), 604_800_000_000_000), (nil, 0)] as [(Duration?, Int64)] {
                let body = try #require(StreamConfiguration.json(of: found, maxAge: age))
                let expected = try changed(["max_age": .int(nanoseconds), "metadata": metadata])
                #expect(try JSON.parse(body) == expected)
            }
            #expect(StreamConfiguration.json(of: .null, maxAge: nil) == nil)
        }

        @Test("A stream that is made again begins after the last batch")
        func firstSequence() throws {
            #expect(try JSON.parse(configuration.json(first: 43))["first_seq"] == 43)
            #expect(try JSON.parse(configuration.json(first: 1))["first_seq"] == nil)
        }

        @Test("A broker that does not sync each write, has no JetStream, or is old is told at its monitoring port")
        func monitoring() throws {
            func faults(_ body: String) throws -> Int {
                try #require(BrokerReport(Array(body.utf8), from: "http://a:8222")).faults(anyVersion: false).count
            }
            let head = #"{"server_name":"a","version":"2.15.1","max_payload":8388608"#
            #expect(try faults(head + #","jetstream":{"config":{"sync_always":true}}}"#) == 0)
            #expect(try faults(head + #","jetstream":{"config":{"sync_interval":120000000000}}}"#) == 1)
            #expect(try faults(head + #","jetstream":{}}"#) == 1)
            #expect(
                try faults(#"{"version":"2.10.0","max_payload":1048576,"jetstream":{"config":{"sync_always":true}}}"#)
                    == 2)
            #expect(BrokerReport(Array("<html>".utf8), from: "http://a:8222") == nil)
        }

        @Test(
            "Errors of JetStream tell a missing stream, brokers without a leader and a wrong configuration apart",
            arguments: [
                (10059, 404, StreamError.Kind.missing), (10008, 503, .unreachable), (10039, 503, .unfit),
                (10074, 500, .unfit), (10058, 400, .unfit), (10047, 500, .unfit), (10052, 400, .unfit),
                (19999, 500, .unreachable),
            ])
        func errors(code: Int, status: Int, kind: StreamError.Kind) {
            let body = #"{"error":{"code":\#(status),"err_code":\#(code),"description":"text"}}"#
            do throws(StreamError) {
                _ = try JetStreamAnswer.read(Array(body.utf8), Self.settings)
                Issue.record("no error")
            } catch {
                #expect(error.kind == kind)
            }
        }

        @Test("An empty stream has its first sequence after the last one")
        func emptyStream() throws {
            let body = """
                {"created":"2026-01-01T00:00:00Z","ts":"2026-01-02T00:00:00.5Z","config":{"max_age":60000000000},
                "state":{"messages":0,"first_seq":0,"last_seq":0},
                "cluster":{"leader":"a","replicas":[{"name":"b","current":true},
                {"name":"c","current":true,"offline":true}]}}
                """
            let state = try #require(StreamInfo(try JSON.parse(body)).state)
            #expect(state.first == 1 && state.last == 0 && state.maxAge == .seconds(60))
            #expect(state.leader == "a" && state.followers == ["b": true, "c": false])
            #expect(state.time == OccurredAt(iso8601: "2026-01-02T00:00:00.5Z")?.timestamp)
        }
    }
#endif
