internal import Foundation
internal import ProfileLog

/// Looks of the doctor at the machine, apart from a store.
enum Machine {
    /// Memory, and how much of it a store may want.
    static func memory(storeBytes: UInt64) -> Finding {
        guard let total = bytes("MemTotal"), let available = bytes("MemAvailable") else {
            return .ok("memory", "The system does not tell how much memory it has.")
        }
        let text = "\(Number.bytes(available)) of \(Number.bytes(total)) are available"
        if available < 128 << 20 || available < total / 20 {
            return .warning(
                "memory", "\(text): the service may be ended by the system.",
                remedy: "Give the machine more memory, or end what else takes it (`ps aux --sort -rss | head`).")
        }
        if storeBytes > total {
            return .ok(
                "memory", "\(text); the store (\(Number.bytes(storeBytes))) is larger, so reads wait for the disk.")
        }
        return .ok("memory", "\(text); the store has \(Number.bytes(storeBytes)).")
    }

    /// A line of /proc/meminfo, in bytes.
    private static func bytes(_ name: String) -> UInt64? {
        guard let text = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line?.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }.map { $0 << 10 }
    }

    /// Open files that the service takes by default: its connections and what else it opens.
    private static let usualFiles: UInt64 = 1_024 + 64

    /// The limits of open files and of address space: of the service that has the store open, else of this shell.
    static func limits(service: Int32?) -> Finding {
        if let service, let files = limit("Max open files", of: service) {
            return limits(files: files, space: limit("Max address space", of: service) ?? .max, whose: "The service")
        }
        let files = limit("Max open files", of: getpid()) ?? .max
        return limits(files: files, space: limit("Max address space", of: getpid()) ?? .max, whose: "This shell")
    }

    private static func limits(files: UInt64, space: UInt64, whose: String) -> Finding {
        if space < UInt64(Environment.mapSizeBytes) {
            return .error(
                "limits", "\(whose) may have \(Number.bytes(space)) of addresses, and a store reserves 1 TiB.",
                remedy: "Set `ulimit -v unlimited`, or remove `LimitAS=` from the unit.")
        }
        if files < usualFiles {
            return .warning(
                "limits", "\(whose) may open \(Number.grouped(files)) files, fewer than 1,024 connections need.",
                remedy: "Raise it: `LimitNOFILE=65536` in the unit, or `ulimit -n 65536`.")
        }
        let text = files == .max ? "any number of" : Number.grouped(files)
        return .ok("limits", "\(whose) may open \(text) files.")
    }

    /// The soft limit of a process by its name in /proc; `.max` for none.
    private static func limit(_ name: String, of process: Int32) -> UInt64? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) })
        else { return nil }
        let soft = line.dropFirst(name.count).split(separator: " ").first
        return soft == "unlimited" ? UInt64.max : soft.flatMap { UInt64($0) }
    }

    /// The name of a program that runs; nil if there is no such process.
    static func program(_ process: Int32) -> String? {
        (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))?.split(separator: "\n").first
            .map(String.init)
    }

    /// The profiled that has the file open, as far as this user may see; nil if none has.
    static func service(of file: String) -> Int32? {
        guard let real = realpath(file, nil) else { return nil }
        defer { free(real) }
        let target = String(cString: real)
        let files = FileManager.default
        let processes = (try? files.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return processes.first { process in
            guard program(process) == "profiled",
                let open = try? files.contentsOfDirectory(atPath: "/proc/\(process)/fd")
            else { return false }
            return open.contains {
                (try? files.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\($0)")) == target
            }
        }
    }

    /// The clock, against the time of the last event.
    static func clock(lastEvent: Timestamp?, now: Timestamp) -> Finding {
        let text = "It is \(Timestamp(rawValue: now.rawValue / 1_000_000 * 1_000_000).rfc3339())"
        guard let lastEvent else { return .ok("clock", "\(text).") }
        let ahead = lastEvent.rawValue.subtractingReportingOverflow(now.rawValue)
        if !ahead.overflow, ahead.partialValue > 60_000_000 {
            return .error(
                "clock",
                "\(text), and the last event was recorded \(span(ahead.partialValue)) later: this clock is late, "
                    + "or it was ahead then.",
                remedy: "Set the clock (`timedatectl`). If it was ahead when events were recorded, "
                    + "`profilecli stats` says from which position on, and how to mend a copy.")
        }
        let age = ahead.overflow ? 0 : -ahead.partialValue
        return .ok("clock", "\(text); the last event was recorded \(span(max(0, age))) ago.")
    }

    static func span(_ microseconds: Int64) -> String { DurationText.compact(.seconds(microseconds / 1_000_000)) }

    /// A disk: `storeBytes` are those of a store on it.
    static func disk(free: UInt64, size: UInt64, storeBytes: UInt64) -> Finding {
        let text = "\(Number.bytes(free)) of \(Number.bytes(size)) are free"
        let remedy =
            "Free space on the store's disk, or make it larger; `profilecli stats --growth` says what fills it and "
            + "when."
        if free < 64 << 20 || free < size / 50 {
            return .error("disk", "\(text): writes are refused when it is full.", remedy: remedy)
        }
        if free < size / 10 { return .warning("disk", "\(text): less than 10 %.", remedy: remedy) }
        if free < storeBytes {
            return .warning(
                "disk", "\(text), less than the store has (\(Number.bytes(storeBytes))): a compaction has no room.",
                remedy: "Plan for a larger disk: `compact` and a restore need as much again.")
        }
        return .ok("disk", "\(text).")
    }

    /// Free pages of a store's file.
    static func freePages(free: UInt64, of used: UInt64, isMore: Bool = false) -> Finding {
        let text = "\(isMore ? "At least " : "")\(Number.bytes(free)) of \(Number.bytes(used)) are free pages"
        if free > 64 << 20, free > used / 2 {
            return .warning(
                "free pages", "\(text): the next events use them, and the file does not grow before.",
                remedy:
                    "To give the space back, stop the service and run `profilecli compact`; it needs room for a copy.")
        }
        return .ok("free pages", "\(text).")
    }

    /// The lag of the caches in events beyond which something is wrong: three times the greatest one at which they are
    /// written.
    private static let greatestLag: UInt64 = 3 << 20

    static func caches(lag: UInt64) -> Finding {
        if lag > greatestLag {
            return .warning(
                "caches", "They lag by \(Number.counted(lag, "event")): a start reads all of them into memory.",
                remedy: "Start the service, or any command that opens the store: it writes the caches first.")
        }
        return .ok(
            "caches", lag == 0 ? "They reach the end of the log." : "They lag by \(Number.counted(lag, "event")).")
    }

    /// A backup by the time at which it was made.
    static func backup(_ time: Timestamp, now: Timestamp) -> Finding {
        let age = max(0, now.rawValue - time.rawValue)
        if age > 86_400_000_000 {
            return .warning(
                "backup", "The last backup was made \(span(age)) ago.",
                remedy: "Make one now with `profilecli backup FOLDER`; the service's log says why its own ones failed.")
        }
        return .ok("backup", "The last backup was made \(span(age)) ago.")
    }

    /// A certificate by its end.
    static func certificate(endsAt end: Timestamp, now: Timestamp) -> Finding {
        let left = end.rawValue - now.rawValue
        let remedy = "Renew the certificate, put both files in place, and reload: `systemctl reload profiled`."
        if left <= 0 { return .error("certificate", "It has ended: clients refuse the service.", remedy: remedy) }
        if left < 7 * 86_400_000_000 {
            return .warning("certificate", "It ends in \(span(left)).", remedy: remedy)
        }
        return .ok("certificate", "It ends in \(span(left)).")
    }
}
