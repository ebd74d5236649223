#if Replicas
    import ProfileLogReplication
    import Testing

    @testable import ProfileLogNATS

    @Suite("Settings of the brokers")
    struct NATSSettingsTests {
        @Test(
            "The address of a broker has a port and no password",
            arguments: [
                ("nats://a", "a:4222"), ("tls://u:p@a:1", "a:1"), ("nats://[::1]", "[::1]:4222"),
                ("nats://[::1]:5", "[::1]:5"),
            ])
        func addresses(server: String, address: String) {
            #expect(NATSSettings.address(of: server) == address)
        }

        @Test("Settings that no broker could make right are refused before one is asked")
        func refusals() {
            func refuses(_ change: (inout NATSSettings) -> Void) -> Bool {
                var settings = NATSSettings(servers: ["nats://a"])
                change(&settings)
                do throws(StreamError) { try settings.check() } catch { return error.kind == .unfit }
                return false
            }
            #expect(!refuses { _ in })
            #expect(refuses { $0.servers = [] })
            #expect(refuses { $0.cluster = "a.b" })
            #expect(refuses { $0.cluster = "" })
            #expect(refuses { $0.cluster = "A" })
            #expect(refuses { $0.replicas = 0 })
            #expect(refuses { $0.maxAge = .seconds(1) })
            #expect(refuses { $0.certificateFile = "/dev/null" })
            #expect(refuses { $0.credentialsFile = "/absent/file" })
        }

        @Test("The public key of an NKey follows from its seed")
        func publicKey() {
            let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
            #expect(
                NKey.publicKey(ofSeed: seed) == "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4")
            #expect(NKey.publicKey(ofSeed: seed.replacing("Y", with: "X")) == nil)
            #expect(NKey.publicKey(ofSeed: "SU") == nil)
        }

        @Test("Versions of brokers are ordered by number, not as text")
        func versions() {
            #expect(BrokerVersion("2.9.25") < BrokerVersion("2.15.1"))
            #expect(BrokerVersion("2.15.1-RC.2") == BrokerVersion("2.15.1"))
            #expect(BrokerVersion("2.15.1") < BrokerVersion("3.0"))
        }
    }
#endif
