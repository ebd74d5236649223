internal import ArgumentParser
internal import ProfileLog

/// `stats --growth`: what fills the store, how fast it grows, and when its disk is full.
struct StoreGrowth {
    private let growth: LogGrowth
    private let pages: PageUse
    private let disk: DiskSpace?
    private let now = Timestamp.now()
    /// The largest users by their IDs; of an erased one the number.
    private let users: [(part: LogGrowth.UserPart, id: String)]
    /// Tells whether everything was counted: Ctrl-C ends it early.
    private let isWhole: Bool

    private static let mostUsers = 20
    /// Days whose mean is the rate.
    private static let days = 7
    private static let microsecondsPerDay = 86_400_000_000.0
    /// A log that began less than this before says nothing about days.
    private static let leastAge = 1.0 / 24
    /// A disk that is full later is not foreseen.
    private static let farthest = 36_500.0

    /// Reads the whole log of the store in the folder `path`.
    init(path: String) throws {
        let log = try openStore(path)
        let reader = log.reader
        let begin = now
        growth = try ProgressBar.run { update in
            try reader.growth(users: Self.mostUsers, days: Self.days, now: begin, goesOn: update)
        }
        isWhole = try growth.position == reader.lastPosition() || !Interrupt.isRequested
        pages = try log.environment.pageUse()
        disk = DiskSpace(path: path)
        users = try growth.users.map { part in
            let info = try reader.users.find(part.user)
            let id = info.flatMap { $0.isErased ? nil : $0.id.description }
            return (part: part, id: id ?? "user number \(part.user.rawValue)")
        }
    }

    // MARK: - The rate

    /// The days over which the rate is the mean; nil for a log that is too young.
    private var span: Double? {
        guard let first = growth.first else { return nil }
        let age = Double(now.rawValue - first.rawValue) / Self.microsecondsPerDay
        return age < Self.leastAge ? nil : min(age, Double(Self.days))
    }

    /// The events and bytes of these days.
    private var recent: (events: UInt64, bytes: UInt64) {
        growth.days.reduce(into: (events: 0, bytes: 0)) { sum, day in
            sum.events += day.events
            sum.bytes += day.bytes
        }
    }

    private var eventsPerDay: Double? {
        guard let span else { return nil }
        return Double(recent.events) / span
    }

    private var usedBytes: UInt64 { pages.pages &* UInt64(pages.pageBytes) }

    /// Bytes of the file by which it grows in a day: those of the records, times what the indexes add to them.
    private var bytesPerDay: Double? {
        guard let span, growth.total.bytes > 0 else { return nil }
        let perRecordByte = Double(usedBytes - min(pages.freeBytes, usedBytes)) / Double(growth.total.bytes)
        return Double(recent.bytes) / span * perRecordByte
    }

    /// The days until the disk is full at this rate; nil if that is not to be foreseen.
    private var daysLeft: Double? {
        guard let disk, let bytesPerDay, bytesPerDay > 0 else { return nil }
        let left = (Double(disk.free) + Double(pages.freeBytes)) / bytesPerDay
        return left > Self.farthest ? nil : left
    }

    private var fullAt: Timestamp? {
        daysLeft.map { Timestamp(rawValue: now.rawValue + Int64($0 * Self.microsecondsPerDay)) }
    }

    // MARK: - Output

    private var kinds: [(kind: EventKind, amount: LogGrowth.Amount)] {
        growth.kinds.map { (kind: $0.key, amount: $0.value) }.sorted {
            ($1.amount.bytes, $0.kind.name) < ($0.amount.bytes, $1.kind.name)
        }
    }

    func print(isJSON: Bool) throws {
        try Output.print(isJSON ? [json] : lines)
        if !isWhole {
            Output.message("Stopped by \(Interrupt.name): counted to position \(growth.position.rawValue).")
            throw ExitCode(Interrupt.status.rawValue)
        }
    }

    private var json: String {
        JSONWriter.object { json in
            json.member("position", growth.position.rawValue)
            json.member("events", growth.total.events)
            json.member("bytes", growth.total.bytes)
            json.member("kinds", .array(kinds.map { Self.object(ofKind: $0.kind, $0.amount) }))
            json.member("users", .array(users.map { Self.object(ofUser: $0.part, $0.id) }))
            json.member("unsure_bytes", growth.unsure)
            json.member("damaged", growth.damaged)
            json.member("file_bytes", usedBytes)
            json.member("free_page_bytes", pages.freeBytes)
            json.member("oldest_reader_commits", pages.oldestReaderCommits)
            json.member("disk_free_bytes", disk.map { Self.number($0.free) } ?? AttributeValue.null)
            json.member("events_per_day", Self.number(eventsPerDay))
            json.member("bytes_per_day", Self.number(bytesPerDay))
            json.member("full_at", fullAt.map { AttributeValue.string($0.rfc3339()) } ?? AttributeValue.null)
        }
    }

    private static func number(_ number: UInt64) -> AttributeValue { .int(Int64(clamping: number)) }

    /// In whole hundredths: more would pretend to know.
    private static func number(_ number: Double?) -> AttributeValue {
        guard let number else { return .null }
        return .double((number * 100).rounded() / 100)
    }

    private static func object(ofKind kind: EventKind, _ amount: LogGrowth.Amount) -> AttributeValue {
        object(("kind", .string(kind.name)), ("events", number(amount.events)), ("bytes", number(amount.bytes)))
    }

    private static func object(ofUser part: LogGrowth.UserPart, _ id: String) -> AttributeValue {
        object(("number", number(part.user.rawValue)), ("id", .string(id)), ("bytes", number(part.bytes)))
    }

    private static func object(_ members: (Name, AttributeValue)...) -> AttributeValue {
        AttributeValue.object(sorting: members.map { AttributeValue.Member($0.0, $0.1) }) ?? .null
    }

    private var lines: [String] {
        let total = max(growth.total.bytes, 1)
        func share(_ bytes: UInt64) -> String { "\(Int((Double(bytes) / Double(total) * 100).rounded())) %" }
        let byKind = Table("KIND", "#EVENTS", "#BYTES", "#SHARE", of: kinds) { row in
            let (events, bytes) = (row.amount.events, row.amount.bytes)
            return [row.kind.name, Number.grouped(events), Number.grouped(bytes), share(bytes)]
        }
        let byUser = Table("USER", "#BYTES", "#SHARE", of: users) { row in
            [row.id, Number.grouped(row.part.bytes), share(row.part.bytes)]
        }
        var lines = byKind.linesIfAny()
        if !users.isEmpty { lines += [""] + byUser.lines() }
        if growth.unsure > 0 {
            lines.append("Each user may have up to \(Number.grouped(growth.unsure)) bytes more: there are many.")
        }
        if growth.damaged > 0 {
            lines.append("\(Number.counted(growth.damaged, "record")) cannot be read: run `profilecli check`.")
        }
        let free = pages.freeBytes
        lines += [
            "", "The file has \(Number.bytes(usedBytes)), of which \(Number.bytes(free)) are free pages.",
            pages.oldestReaderCommits == 0
                ? "No read keeps old pages."
                : "The oldest read sees the state of \(Number.counted(pages.oldestReaderCommits, "commit")) ago.",
        ]
        return lines + [rate]
    }

    private var rate: String {
        guard let eventsPerDay, let bytesPerDay else { return "The log is too young to tell how fast it grows." }
        let text =
            "It grows by \(Number.counted(UInt64(eventsPerDay.rounded()), "event")) and "
            + "\(Number.bytes(UInt64(bytesPerDay))) a day"
        guard let disk else { return "\(text)." }
        let left = "\(text); \(Number.bytes(disk.free)) of the disk are free"
        guard let daysLeft, let fullAt else { return "\(left)." }
        let when = daysLeft < 1 ? "in less than a day" : "in \(Number.counted(UInt64(daysLeft), "day"))"
        return "\(left). At this rate it is full \(when), on \(fullAt.rfc3339().prefix(10))."
    }
}
