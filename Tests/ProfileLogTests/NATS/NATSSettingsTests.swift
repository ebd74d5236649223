#if Replicas
    import Glibc
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

        @Test(
            "Nodes whose names count up begin at different brokers of one list, and each at the same one again",
            arguments: [["a", "b", "c"], ["node-1", "node-2", "node-3"], ["n8", "n9"], ["1", "2", "3", "4", "5"]])
        func firstServers(names: [String]) {
            func first(_ name: String) -> Int {
                var settings = NATSSettings(servers: (1...max(3, names.count)).map { "nats://broker\($0)" })
                settings.client = "profilelog-\(name)"
                return settings.firstServer
            }
            #expect(Set(names.map(first)).count == names.count)
            // Not that of this process alone.
            if names[0] == "a" { #expect(names.map(first) == [2, 0, 1]) }
            var alone = NATSSettings(servers: ["nats://a"])
            alone.client = names[0]
            #expect(alone.firstServer == 0)
        }

        @Test("A connection is tried at the broker at which the node begins", arguments: ["a", "b", "c"])
        func firstConnection(name: String) throws {
            // Sockets that never greet: a second one is tried a second later.
            let sockets = try (0..<3).map { _ in try SilentSocket() }
            var settings = NATSSettings(servers: sockets.map { "nats://127.0.0.1:\($0.port)" })
            settings.client = "profilelog-\(name)"
            let link = NATSLink(settings)
            link.start()
            defer { link.close() }
            var polled = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            #expect(poll(&polled, 3, 30_000) > 0)
            #expect(polled.firstIndex { $0.revents != 0 } == settings.firstServer)
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

    /// A socket of this machine that takes connections and says nothing.
    private final class SilentSocket {
        let descriptor: CInt
        let port: UInt16

        struct Failure: Error { let code: CInt }

        init() throws {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let code = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    bind(descriptor, name, length) | listen(descriptor, 8) | getsockname(descriptor, name, &length)
                }
            }
            guard descriptor >= 0, code == 0 else { throw Failure(code: errno) }
            (self.descriptor, port) = (descriptor, UInt16(bigEndian: address.sin_port))
        }

        deinit { close(descriptor) }
    }
#endif
