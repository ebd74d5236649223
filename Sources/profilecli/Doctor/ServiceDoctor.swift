internal import ProfileLog
internal import ProfileLogNativeAPI

/// Looks at a running service from outside: `/health`, `/metrics` and, if it is a node, its cluster.
struct ServiceDoctor {
    let service: any Connection
    private let now = Timestamp.now()

    init(_ service: any Connection) { self.service = service }

    /// Gives each finding to `tell`, as soon as it is there. Throws if nothing answers.
    func run(_ tell: (Finding) throws -> Void) async throws {
        let answer = try await service.answer(APIRequest(.get, "/health"))
        guard let health = try? JSONObject(answer.body), let status = health["status"].text else {
            return try tell(
                .error(
                    "service", "What answers there is no profiled.",
                    remedy: "Check the address: GET / there says what it is."))
        }
        let cluster = try await clusterFindings()
        // What the cluster says has more than the reason.
        let reasons = health.objects("reasons").filter { cluster.isEmpty || $0["reason"].text != "cluster" }
        switch status {
        case "ok": try tell(.ok("service", "It answers, and its store can be read and written."))
        case "degraded":
            try tell(.ok("service", "It answers, and its store can be read and written; it is degraded."))
            for reason in reasons { try tell(finding(reason)) }
        default:
            try tell(
                .error(
                    "service", health["error"].text ?? "Its store cannot be read and written.",
                    remedy: health["remedy"].text ?? "Look at its log."))
        }
        for finding in cluster { try tell(finding) }
        let metrics = try await service.answer(APIRequest(.get, "/metrics"))
        guard metrics.status == 200 else {
            return try tell(
                .warning(
                    "metrics", "/metrics answers with status \(metrics.status), so the rest could not be looked at.",
                    remedy: metrics.status == 404
                        ? "Name the address of the service's --admin-port with --url."
                        : "Put a key with the permission `metrics` into PROFILELOG_KEY: `profiled keys add --name "
                            + "doctor --permissions metrics`."))
        }
        let told = Set(reasons.compactMap { $0["reason"].text })
        try tellNumbers(MetricsText(metrics.body), told, tell)
    }

    /// The state of its cluster; nothing if it is in none, or if the key may not ask.
    private func clusterFindings() async throws -> [Finding] {
        let answer = try await service.answer(APIRequest(.get, "/v1/cluster"))
        guard answer.status == 200, let told = try? JSONObject(answer.body) else { return [] }
        let cluster = ClusterStatus(told)
        let findings = cluster.findings
        return findings.isEmpty ? [cluster.wellFinding] : findings
    }

    private func finding(_ reason: JSONObject) -> Finding {
        let check = reason["reason"].text ?? "service"
        let (error, remedy) = (reason["error"].text ?? "It is degraded.", reason["remedy"].text ?? "Look at its log.")
        return ["audit", "damaged_backup"].contains(check)
            ? .error(check, error, remedy: remedy) : .warning(check, error, remedy: remedy)
    }

    /// `told` are the reasons of `/health`, which were given already.
    private func tellNumbers(
        _ metrics: MetricsText, _ told: Set<String>, _ tell: (Finding) throws -> Void
    ) throws {
        if let build = metrics.labels(of: "profiled_build_info") { try tell(.ok("program", "\(build).")) }
        let used = metrics.count("profilelog_store_bytes") ?? 0
        if let free = metrics.count("profilelog_disk_free_bytes"),
            let size = metrics.count("profilelog_disk_size_bytes")
        {
            try tell(Machine.disk(free: free, size: size, storeBytes: used))
        }
        if let open = metrics.count("process_open_fds"), let most = metrics.count("process_max_fds") {
            let text = "\(Number.grouped(open)) of \(Number.grouped(most)) files are open"
            try tell(
                open > most / 10 * 9
                    ? .warning(
                        "limits", "\(text): new connections will wait.",
                        remedy: "Raise `LimitNOFILE=` of the unit, and `--max-connections`.")
                    : .ok("limits", "\(text)."))
        }
        if let last = metrics.time("profilelog_last_append_timestamp_seconds") {
            try tell(Machine.clock(lastEvent: last, now: now))
        }
        if let free = metrics.count("profilelog_store_free_bytes") {
            try tell(Machine.freePages(free: free, of: used))
        }
        if let age = metrics.count("profilelog_oldest_reader_seconds") {
            try tell(
                age > 600
                    ? .warning(
                        "readers",
                        "A read has kept old pages for \(DurationText.compact(.seconds(Int64(age)))): the file grows.",
                        remedy: "`profilecli doctor --store FOLDER` on that machine names the process.")
                    : .ok("readers", "No read keeps old pages for long."))
        }
        if let lag = metrics.count("profilelog_index_lag_events") { try tell(Machine.caches(lag: lag)) }
        try tellDamage(metrics, tell)
        if !told.contains("audit") { try tellAudit(metrics, tell) }
        if !told.contains("certificate"),
            let end = metrics.time("profilelog_tls_certificate_not_after_timestamp_seconds")
        {
            try tell(Machine.certificate(endsAt: end, now: now))
        }
        if !told.contains("backup"), let last = metrics.time("profilelog_backup_last_success_timestamp_seconds"),
            last.rawValue > 0
        {
            try tell(Machine.backup(last, now: now))
        }
        if metrics["profilelog_config_last_reload_successful"] == 0 {
            try tell(
                .warning(
                    "configuration", "The last reload failed; the settings from before hold.",
                    remedy: "`profiled config check` names what is wrong."))
        }
    }

    private func tellDamage(_ metrics: MetricsText, _ tell: (Finding) throws -> Void) throws {
        if let found = metrics.count("profilelog_damage_found_total") {
            try tell(
                found > 0
                    ? .error(
                        "damage", "\(Number.counted(found, "read")) met a damaged record or page since the start.",
                        remedy: "Run `profilecli check` on that machine for all places, look for the cause, and "
                            + "restore from a backup.")
                    : .ok("damage", "No read has met any since the start."))
        }
    }

    private func tellAudit(_ metrics: MetricsText, _ tell: (Finding) throws -> Void) throws {
        guard let differences = metrics.count("profilelog_audit_differences") else { return }
        if differences > 0 {
            return try tell(
                .error(
                    "audit", "\(Number.counted(differences, "state")) are not what the log says.",
                    remedy: "`profilecli stats --audit` names them; stop the service and run `profilecli check "
                        + "--replay`."))
        }
        let position = metrics.count("profilelog_audit_position") ?? 0
        let last = metrics.count("profilelog_last_position") ?? 0
        let text = "Proven up to position \(Number.grouped(position)) of \(Number.grouped(last))"
        try tell(.ok("audit", position == 0 ? "The first round has not ended." : "\(text), without a difference."))
    }
}

/// The samples of the text format of Prometheus that have no labels, and the labels of others.
struct MetricsText {
    private var values: [Substring: Double] = [:]
    private var labels: [Substring: Substring] = [:]
    private static let mostLines = 100_000

    init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        for line in text.split(separator: "\n").prefix(Self.mostLines) where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            let name = line.prefix { $0 != "{" && $0 != " " }
            if name.endIndex == space {
                values[name] = Double(line[line.index(after: space)...])
            } else if labels[name] == nil {
                labels[name] = line[name.endIndex..<space]
            }
        }
    }

    /// The sample of this name without labels; nil if there is none.
    subscript(name: String) -> Double? { values[name[...]] }

    /// As the subscript, as a count; nil also for what is none.
    func count(_ name: String) -> UInt64? { self[name].flatMap { $0 >= 0 && $0 < 1e18 ? UInt64($0) : nil } }

    /// As the subscript, as seconds since 1970; nil also for what is no time of these centuries.
    func time(_ name: String) -> Timestamp? {
        self[name].flatMap { abs($0) < 1e11 ? Timestamp(rawValue: Int64($0 * 1e6)) : nil }
    }

    /// The labels of the first sample of this name, as `version 0.1.0, commit 4f6c2a91`.
    func labels(of name: String) -> String? {
        labels[name[...]].map { text in
            text.dropFirst().dropLast().split(separator: ",").map { pair in
                pair.filter { $0 != "\"" }.replacing("=", with: " ")
            }.joined(separator: ", ").oneLine
        }
    }
}
