import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

private let promtoolPath = ProcessInfo.processInfo.environment["PROMTOOL"] ?? "/usr/bin/promtool"

/// Holds the form of `/metrics` by the rules of promtool's lint, and the names that alerts and dashboard use.
@Suite("The form of the metrics")
struct MetricsFormTests {
    private struct Family {
        var name: String
        var help: String
        var kind: String
        /// The samples: names and labels.
        var samples: [(name: String, labels: [String: String])] = []
    }

    /// The text of `/metrics` of a service that has answered something of each kind.
    private static func text(of service: Service) async throws -> String {
        _ = try await service.post("/v1/log/event", #"{"user":"u","name":"x"}"#)
        _ = try await service.post("/v1/log/event", "{}")
        _ = try await service.get("/v1/profile?user=nobody")
        return String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    }

    private static func families(_ text: String) -> [Family] {
        var families: [Family] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if line.hasPrefix("# HELP ") {
                families.append(Family(name: words[2], help: words.count > 3 ? words[3] : "", kind: ""))
            } else if line.hasPrefix("# TYPE "), !families.isEmpty {
                families[families.count - 1].kind = words[3]
            } else if !families.isEmpty {
                let name = String(line.prefix { $0 != "{" && $0 != " " })
                let labels = line.matches(of: /([A-Za-z_]\w*)="([^"]*)"/).map { (String($0.1), String($0.2)) }
                families[families.count - 1].samples.append((name, Dictionary(labels) { $1 }))
            }
        }
        return families
    }

    @Test("Names, units, counters and help of the metrics keep the rules of promtool's lint")
    func lint() async throws {
        try await withService { service in
            let families = Self.families(try await Self.text(of: service))
            #expect(families.count >= 35)
            #expect(Set(families.map(\.name)).count == families.count)
            let otherUnits = [
                "ms", "milliseconds", "us", "microseconds", "ns", "nanoseconds", "s", "sec", "minutes", "hours", "days",
                "kb", "kilobytes", "mb", "megabytes", "gb", "gigabytes", "kib", "mib", "gib", "percent", "b", "m", "h",
                "d",
            ]
            for family in families {
                let words = family.name.split(separator: "_").map(String.init)
                #expect(family.name.wholeMatch(of: /[a-z][a-z0-9_]*/) != nil, "\(family.name)")
                #expect(!family.help.isEmpty && family.help.hasSuffix("."), "\(family.name)")
                #expect(["counter", "gauge", "histogram"].contains(family.kind), "\(family.name)")
                #expect((family.kind == "counter") == family.name.hasSuffix("_total"), "\(family.name)")
                #expect(Set(words).isDisjoint(with: otherUnits), "\(family.name)")
                #expect(Set(words).isDisjoint(with: ["counter", "gauge", "histogram", "summary"]), "\(family.name)")
                for suffix in ["_bucket", "_count", "_sum", "_info_total"] {
                    #expect(!family.name.hasSuffix(suffix), "\(family.name)")
                }
                for sample in family.samples {
                    #expect(sample.labels["le"] == nil || sample.name == family.name + "_bucket", "\(sample.name)")
                    #expect(sample.labels.keys.allSatisfy { $0.wholeMatch(of: /[a-z_]+/) != nil }, "\(sample.name)")
                }
            }
        }
    }

    @Test(
        "promtool finds nothing to mend in the metrics",
        .enabled(if: FileManager.default.isExecutableFile(atPath: promtoolPath)))
    func metricsLint() async throws {
        let folder = try TemporaryFolder.made(prefix: "profiled")
        let service = try await Service(in: folder)
        try Data(try await Self.text(of: service).utf8).write(to: folder.file("metrics.txt"))
        #expect(try await service.stop() == 0)
        let process = try ChildProcess(
            URL(filePath: promtoolPath), ["check", "metrics"], in: folder.url,
            input: .file(folder.file("metrics.txt")), output: .file(folder.file("out")),
            errors: .file(folder.file("err")))
        let status = process.waitForEnd()
        let said = try String(contentsOf: folder.file("err"), encoding: .utf8)
        #expect(status == 0, "\(said)")
    }

    /// `apt-get download prometheus` has it; else `PROMTOOL` names it.
    @Test("What clients ask for makes no new series: each histogram has one set for each endpoint")
    func series() async throws {
        try await withService { service in
            _ = try await Self.text(of: service)
            func ask(_ word: String) async throws -> Int {
                _ = try await service.get("/\(word)")
                _ = try await service.get("/v1/profile?user=\(word)")
                _ = try await service.get("/v1/devices/\(word)")
                _ = try await service.send("DELETE", "/v1/users?\(word)")
                return Self.families(try await Self.text(of: service)).reduce(0) { $0 + $1.samples.count }
            }
            _ = try await ask("first")
            let known = try await ask("second")
            for word in ["third", "fourth", "fifth"] { #expect(try await ask(word) == known) }
        }
    }

    @Test("Numbers of the process, the disk, the readers and the last event are there, and make sense")
    func values() async throws {
        try await withService { service in
            let begin = Date().timeIntervalSince1970
            let text = try await Self.text(of: service)
            func value(_ name: String) throws -> Double {
                let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }, "\(name)")
                return try #require(Double(line.dropFirst(name.count + 1)))
            }
            #expect(text.contains(/profiled_build_info\{version="[0-9]+\.[0-9]+\.[0-9]+",commit="[^"]+"\} 1\n/))
            #expect(try value("process_start_time_seconds") <= begin + 1)
            #expect(try value("process_cpu_seconds_total") > 0)
            #expect(try value("process_resident_memory_bytes") > 1_000_000)
            #expect(try value("process_open_fds") > 3)
            #expect(try value("process_max_fds") >= value("process_open_fds"))
            #expect(try value("profilelog_disk_size_bytes") >= value("profilelog_disk_free_bytes"))
            #expect(try value("profilelog_store_bytes") >= value("profilelog_store_free_bytes"))
            #expect(try value("profilelog_last_append_timestamp_seconds") >= begin - 1)
            #expect(try value("profiled_requests_in_flight") >= 1)
            #expect(try value("profilelog_store_usable") == 1)
            #expect(try value("profilelog_damage_found_total") == 0)
            #expect(try value("profilelog_oldest_reader_seconds") == 0)
            #expect(text.contains("profiled_refusals_total{code=\"disk_full\"} 0\n"))
            #expect(text.contains(/profiled_refusals_total\{code="invalid"\} 1\n/))
            #expect(text.contains("profiled_degraded{reason=\"audit\"} 0\n"))
        }
    }

    // MARK: - Alerts and dashboard

    /// Metrics that a service has only with a backup, TLS, a configuration file or as a node of a cluster.
    private static let elsewhere: Set = [
        "profilelog_backup_last_success_timestamp_seconds", "profilelog_backup_failures_total",
        "profilelog_backup_verified_timestamp_seconds", "profilelog_backup_verify_interval_seconds",
        "profilelog_tls_certificate_not_after_timestamp_seconds",
        "profilelog_config_last_reload_successful", "profiled_cluster_lag_seconds", "profiled_cluster_missing_batches",
        "profiled_cluster_sequence", "profiled_cluster_writable", "profiled_cluster_is_writer",
        "profiled_cluster_nodes", "profiled_cluster_batches_total", "profiled_cluster_decisions_again_total",
        "profiled_cluster_undecided_total", "profiled_cluster_broker_changes_total",
        "profiled_cluster_last_failover_seconds", "profiled_cluster_forwarded_total",
    ]

    /// The names of metrics in an expression.
    private static func names(_ text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:profiled|profilelog|process)_[a-z0-9_]+/).map { String($0.0) })
    }

    @Test("Each metric in the alert rules and on the dashboard is one that the service has")
    func used() async throws {
        let rules = try Repository.text("packaging/prometheus/profilelog.rules.yaml").split(separator: "\n")
            .filter { $0.contains(" expr: ") }.joined(separator: "\n")
        let dashboard = try JSON.parse(try Repository.text("packaging/grafana/profilelog.json"))
        var used = Self.names(rules)
        #expect(used.count >= 15)
        var panels = 0
        while case let panel = dashboard.at("panels.\(panels)"), panel != .null {
            var targets = 0
            while case let target = panel.at("targets.\(targets)"), target != .null {
                used.formUnion(Self.names(try #require(target.at("expr").text)))
                targets += 1
            }
            #expect(targets > 0, "panel \(panels)")
            panels += 1
        }
        #expect(panels >= 10)
        try await withService { service in
            let families = Self.families(try await Self.text(of: service))
            var known = Self.elsewhere.union(families.map(\.name))
            for family in families where family.kind == "histogram" {
                known.formUnion(["_bucket", "_sum", "_count"].map { family.name + $0 })
            }
            #expect(used.subtracting(known).sorted() == [])
        }
    }

    @Test("Each alert has a heading in docs/alerts.md, steps below it, a link to it, and two tests")
    func runbooks() throws {
        let rules = try Repository.text("packaging/prometheus/profilelog.rules.yaml")
        let tests = try Repository.text("packaging/prometheus/profilelog.test.yaml")
        let page = try Repository.text("docs/alerts.md")
        let alerts = rules.components(separatedBy: "- alert: ").dropFirst()
        #expect(alerts.count >= 15)
        for alert in alerts {
            let name = String(alert.prefix { $0 != "\n" })
            // The place where the package puts the page.
            let url = "file:///usr/share/doc/profilelog/alerts.md#\(name.lowercased())"
            #expect(alert.contains("runbook_url: '\(url)'\n"), "\(name)")
            let parts = page.components(separatedBy: "\n## \(name)\n")
            #expect(parts.count == 2, "\(name)")
            let section = parts.last?.components(separatedBy: "\n## ")[0] ?? ""
            #expect(section.contains("\n1. ") && section.contains("**Effect.**"), "\(name)")
            #expect(alert.contains(/severity: (critical|warning)/), "\(name)")
            let severity = alert.contains("severity: critical") ? "critical" : "warning"
            #expect(section.contains("*\(severity)*."), "\(name)")
            #expect(tests.components(separatedBy: "alertname: \(name)\n").count >= 3, "\(name)")
        }
        let headings = page.matches(of: /\n## (\w+)\n/).map { String($0.1) }
        #expect(headings.count == alerts.count)
        // Links within the page lead to headings.
        for link in page.matches(of: /\]\(#(\w+)\)/) {
            #expect(headings.contains { $0.lowercased() == link.1 }, "\(link.1)")
        }
    }

    @Test(
        "promtool agrees with the alert rules and their tests",
        .enabled(if: FileManager.default.isExecutableFile(atPath: promtoolPath)))
    func rulesCheck() throws {
        let folder = try TemporaryFolder.made(prefix: "rules")
        for arguments in [
            ["check", "rules", "profilelog.rules.yaml"], ["test", "rules", "profilelog.test.yaml"],
        ] {
            let process = try ChildProcess(
                URL(filePath: promtoolPath), arguments, in: Repository.file("packaging/prometheus"),
                output: .file(folder.file("out")), errors: .file(folder.file("err")))
            let status = process.waitForEnd()
            let said = try ["out", "err"].map { try String(contentsOf: folder.file($0), encoding: .utf8) }
            #expect(status == 0, "\(said)")
        }
    }
}
