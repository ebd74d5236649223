internal import Foundation
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogNativeAPI

/// Looks at a store, its files and its machine. Changes nothing, and takes the same time for a store of any size unless
/// `isDeep`.
struct StoreDoctor {
    let path: String
    let isDeep: Bool
    /// The folder of the backup; nil if none is named.
    let backup: String?

    private var data: String { path + "/data.mdb" }
    private var lock: String { path + "/lock.mdb" }
    private var keys: String { path + "/keys.json" }
    private let now = Timestamp.now()

    init(path: String, isDeep: Bool, backup: String?) {
        (self.path, self.isDeep, self.backup) = (path, isDeep, backup)
    }

    /// Gives each finding to `tell`, as soon as it is there.
    func run(_ tell: (Finding) throws -> Void) throws {
        do {
            guard try tellStore(tell) else { return try tellBackup(tell) }
        } catch let error as StorageError {
            try tell(.failure("store", error))
            return try tellBackup(tell)
        }
        try tell(fileSystem())
        let (found, mayOpen) = files()
        for finding in found { try tell(finding) }
        let bytes = size(data)
        if let disk = DiskSpace(path: path) {
            try tell(Machine.disk(free: disk.free, size: disk.size, storeBytes: bytes))
        }
        try tell(Machine.memory(storeBytes: bytes))
        try tell(keysFound())
        if mayOpen { try tellContent(tell) }
        try tellBackup(tell)
    }

    // MARK: - The folder and its files

    /// Tells what the folder is; false if there is no store to look at.
    private func tellStore(_ tell: (Finding) throws -> Void) throws -> Bool {
        switch try StoreFolder(path: path) {
        case .store:
            try tell(.ok("store", "\(path) holds a store."))
            return true
        case .vacant:
            try tell(
                .error(
                    "store", "There is no store in \(path).",
                    remedy: "Check --store and PROFILELOG_STORE; if the disk was not mounted, mount it before the "
                        + "service starts."))
        case .unfinished:
            try tell(
                .warning(
                    "store", "The store in \(path) holds no event: its first write was stopped.",
                    remedy: "The next write finishes it."))
        case .foreign: try tell(.failure("store", StorageError.notAStore(path: path)))
        }
        return false
    }

    private func fileSystem() -> Finding {
        guard let system = FileSystem(path: path) else {
            return .ok("file system", "The system does not tell on which file system \(path) is.")
        }
        switch system.kind {
        case .local: return .ok("file system", "\(system.name), on this machine.")
        case .network:
            return .error(
                "file system", "\(system.name), on a network: locks and maps do not hold there, and a store breaks.",
                remedy: "Move the store to a disk of this machine.")
        case .shared:
            return .warning(
                "file system", "\(system.name), which several machines share: the locks of a store are of one.",
                remedy: "Let one machine alone open the store, or move it to a disk of this machine.")
        case .memory:
            return .warning(
                "file system", "\(system.name): all is gone when the machine stops.",
                remedy: "Move the store to a disk, unless it is for tests.")
        case .container:
            return .warning(
                "file system", "\(system.name), the layer of a container: all is gone with it.",
                remedy: "Mount a volume for the store, unless it is for tests.")
        case .program:
            return .warning(
                "file system", "\(system.name): whether a sync reaches a disk depends on a program.",
                remedy: "Move the store to a disk of this machine.")
        }
    }

    /// Owners and modes; and whether the store may be opened without changing anything there.
    private func files() -> ([Finding], mayOpen: Bool) {
        var findings: [Finding] = []
        guard let folder = status(path), let file = status(data) else {
            return ([.failure("files", StorageError.unreachable(path: path, code: errno))], false)
        }
        let owner = FolderOwner.name(of: file.st_uid)
        for (name, other) in [("lock.mdb", status(lock)), ("keys.json", status(keys))] {
            guard let other, other.st_uid != file.st_uid else { continue }
            findings.append(
                .error(
                    "files",
                    "\(name) belongs to \(FolderOwner.name(of: other.st_uid)), and data.mdb to \(owner): the "
                        + "service may not open it.",
                    remedy: "sudo chown --reference=\(data) \(path)/\(name)"))
        }
        if folder.st_uid != file.st_uid, folder.st_uid != 0 {
            findings.append(
                .error(
                    "files",
                    "The folder belongs to \(FolderOwner.name(of: folder.st_uid)), and data.mdb to \(owner).",
                    remedy: "Give both to the user of the service: sudo chown -R USER: \(path)"))
        }
        for (name, status) in [
            ("The folder", status(path)), ("data.mdb", status(data)), ("lock.mdb", status(lock)),
            ("keys.json", status(keys)),
        ] {
            guard let status, status.st_mode & 0o007 != 0 else { continue }
            let place = name == "The folder" ? path : "\(path)/\(name)"
            // With a closed folder the modes of its files do not matter.
            if name != "The folder", folder.st_mode & 0o007 == 0 { continue }
            findings.append(
                .warning(
                    "files",
                    "\(name) is open to every user of this machine (mode \(Self.octal(status.st_mode))).",
                    remedy: "chmod o= \(place)"))
        }
        if file.st_nlink > 1 {
            findings.append(
                .warning(
                    "files", "data.mdb has \(file.st_nlink) names: programs that open different ones have other locks.",
                    remedy: "Remove the other links to it (`find / -xdev -samefile \(data)`)."))
        }
        var mayOpen = true
        if access(path, W_OK) != 0 || access(data, R_OK | W_OK) != 0 {
            mayOpen = false
            findings.append(
                .error(
                    "files", "This user may not write in \(path), and reading takes a lock there.",
                    remedy: "Run the doctor as the owner: sudo -u \(owner) profilecli doctor --store "
                        + path))
        } else if status(lock) == nil, geteuid() != file.st_uid, geteuid() != 0 {
            // What root makes gets the owner of the folder.
            mayOpen = false
            findings.append(
                .warning(
                    "files",
                    "There is no lock.mdb: opening the store as this user would make one that the service may "
                        + "not open.",
                    remedy: "Run the doctor as the owner: sudo -u \(owner) profilecli doctor --store "
                        + path))
        }
        if findings.isEmpty {
            let hasLock = status(lock) != nil
            findings.append(
                .ok(
                    "files",
                    "All belong to \(owner), and are closed to others; lock.mdb is "
                        + (hasLock ? "in order." : "made when the store is opened.")))
        }
        return (findings, mayOpen)
    }

    /// The keys of the service; the hashes stay where they are.
    private func keysFound() -> Finding {
        guard let status = status(keys) else {
            return .ok("keys", "There are none: the service listens on this machine alone.")
        }
        if status.st_mode & 0o077 != 0 {
            return .warning(
                "keys", "keys.json can be read by others than its owner (mode \(Self.octal(status.st_mode))).",
                remedy: "chmod 600 \(keys)")
        }
        guard status.st_size < 64 << 20, let content = FileManager.default.contents(atPath: keys),
            let object = try? JSONObject(Array(content))
        else {
            return .error(
                "keys", "keys.json cannot be read: the service does not start.",
                remedy: "Restore it from a copy, or remove it and make new keys with `profiled keys add`.")
        }
        let count = UInt64(object["keys"].elements.count)
        return .ok(
            "keys",
            count == 0 ? "The file has none." : "There \(count == 1 ? "is" : "are") \(Number.counted(count, "key")).")
    }

    // MARK: - What is in the store

    private func tellContent(_ tell: (Finding) throws -> Void) throws {
        let look: StoreLook
        do {
            look = try StoreLook(path: path)
        } catch {
            return try tell(.failure("store", error))
        }
        if let replica = look.replica { try tell(cluster(replica)) }
        try tell(Machine.limits(service: Machine.service(of: data)))
        try tell(Machine.clock(lastEvent: look.recordedAt, now: now))
        let used = look.pages.pages &* UInt64(look.pages.pageBytes)
        try tell(Machine.freePages(free: look.pages.freeBytes, of: used, isMore: look.pages.hasMoreFreePages))
        try tell(readers(look.pages))
        try tell(Machine.caches(lag: look.lag))
        try tell(damage(look))
        if isDeep, look.damage.isEmpty { try tellCheck(tell) }
    }

    private func cluster(_ replica: ReplicaPosition) -> Finding {
        .ok(
            "cluster",
            "The store is a node's, up to message \(Number.grouped(replica.sequence)) of its stream: only the node "
                + "writes here.")
    }

    private func readers(_ use: PageUse) -> Finding {
        guard let oldest = use.readers.first, oldest.commit < use.commit else {
            return .ok("readers", "No read keeps old pages.")
        }
        let name = Machine.program(oldest.process).map { "\($0), process \(oldest.process)" }
        let who = name ?? "process \(oldest.process), which is not seen from here"
        let behind = Number.counted(use.oldestReaderCommits, "commit")
        let text = "A read of \(who) sees the state of \(behind) ago"
        // A read takes moments, and so do a few commits.
        if use.oldestReaderCommits < 1_000 { return .ok("readers", "\(text).") }
        return .warning(
            "readers", "\(text): the pages of that time are kept, and the file grows.",
            remedy: "Let that read finish, or end process \(oldest.process).")
    }

    private func damage(_ look: StoreLook) -> Finding {
        if look.isMixed {
            return .error(
                "damage", "data.mdb is a mix of two copies: it was overwritten while it was in use.",
                remedy: "Restore the store from a backup into a new folder.")
        }
        if look.damage.isEmpty {
            let rows = Number.counted(UInt64(look.examined), "row")
            return .ok(
                "damage", "None in a sample of \(rows)" + (isDeep ? "." : "; --deep reads everything."))
        }
        let more = look.damage.count > 3 ? " and others" : ""
        return .error(
            "damage", "The checksum is wrong at \(look.damage.prefix(3).joined(separator: ", "))\(more).",
            remedy: "Run `profilecli check` for all places, look for the cause (`dmesg`, `smartctl -a`), and restore "
                + "from a backup.")
    }

    /// Reads everything, and compares all states with the log: as `check --replay`.
    private func tellCheck(_ tell: (Finding) throws -> Void) throws {
        var bar = ProgressBar()
        defer { bar.clear() }
        do {
            let log = try openStore(path, projections: RequestStore.projections)
            var report = try log.check { bar.update($0) }
            let problems = report.problems.count
            try CheckCommand.audit(log, &report) { bar.update($0) }
            bar.clear()
            let differences = report.problems.count - problems
            try tell(
                problems == 0
                    ? .ok("check", "All of \(Number.counted(report.events, "event")) and every index are sound.")
                    : .error(
                        "check", "\(Number.counted(UInt64(problems), "place")) of the store are damaged.",
                        remedy: "Run `profilecli check` for all places, and restore from a backup."))
            try tell(
                differences == 0
                    ? .ok("audit", "Every state is what the log says.")
                    : .error(
                        "audit", "\(Number.counted(UInt64(differences), "state")) are not what the log says.",
                        remedy: "Stop the service, run `profilecli check --replay`, and report what it prints; "
                            + "`profilecli replay --shadow --swap` folds all states again."))
        } catch let error as StorageError {
            try tell(.failure("check", error))
        }
    }

    // MARK: - The backup

    private func tellBackup(_ tell: (Finding) throws -> Void) throws {
        guard let backup else { return }
        let manifest: Manifest
        do {
            guard let found = try BackupFolder.manifest(in: backup) else {
                return try tell(
                    .error(
                        "backup", "There is no backup in \(backup).",
                        remedy: "Check --backup; `profilecli backup \(backup)` makes one."))
            }
            manifest = found
        } catch let error as BackupError {
            return try tell(.failure("backup", error))
        }
        try tell(Machine.backup(manifest.written, now: now))
        if let disk = DiskSpace(path: backup), disk.free < disk.size / 20 {
            try tell(
                .warning(
                    "backup disk", "\(Number.bytes(disk.free)) of \(Number.bytes(disk.size)) are free: less than 5 %.",
                    remedy: "Free space on the disk of the backup."))
        }
        if let store = status(path), let copy = status(backup), store.st_dev == copy.st_dev {
            try tell(
                .warning(
                    "backup disk", "The backup is on the same file system as the store: both are lost together.",
                    remedy: "Put the backup on another disk, and copy it to another machine."))
        }
    }

    // MARK: - Helpers

    /// The system's facts about a file; nil if there is none.
    private func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    private func size(_ path: String) -> UInt64 { status(path).map { UInt64($0.st_size) } ?? 0 }

    private static func octal(_ mode: mode_t) -> String { String(mode & 0o777, radix: 8) }
}
