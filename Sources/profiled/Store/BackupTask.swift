internal import ArgumentParser
internal import Foundation
internal import Logging
internal import ProfileLog
internal import ProfileLogBackup
internal import ProfileLogRequests
internal import ServiceLifecycle
internal import Synchronization

/// The backup that a service writes.
struct BackupPlan: Sendable {
    let folder: String
    /// The file of the keys, and that of the workspace: they are kept with the log.
    let keys: String
    let workspace: String?

    /// The files of settings that can be read now, and the configuration. Nothing in them is a secret: keys are hashes,
    /// and the configuration names the files of others.
    static func settings(
        keys: String, workspace: String?, configuration: [UInt8] = []
    ) -> [(name: String, content: [UInt8])] {
        var files: [(name: String, content: [UInt8])] = []
        for (name, path) in [("keys.json", keys), ("workspace.yaml", workspace ?? "")] where !path.isEmpty {
            if let content = FileManager.default.contents(atPath: path) { files.append((name, Array(content))) }
        }
        // `/dev/null` is no configuration.
        if !configuration.isEmpty { files.append(("profiled.yaml", configuration)) }
        return files
    }
}

/// Backs the store up while the service runs, and reads the backup whole now and then. A failure is logged with its
/// next step and counted; the next run tries again.
struct BackupTask: Service {
    let plan: BackupPlan?
    /// The settings: a reload may change how often.
    let live: LiveSettings
    let store: LiveStore
    let metrics: BackupMetrics
    let logger: Logger

    func run() async throws {
        if let plan { await cancelWhenGracefulShutdown { await backUp(plan) } }
        // The group ends with the first task that returns.
        try? await gracefulShutdown()
    }

    private func backUp(_ plan: BackupPlan) async {
        var verified = lastKnown(plan)
        var failed: ContinuousClock.Instant?
        var warning: String?
        while !Task.isCancelled {
            warning = await backUpOnce(plan, verified, lastWarning: warning)
            if isVerificationDue(verified, failed), !Task.isCancelled {
                if let time = await verify(plan) {
                    (verified, failed) = (time, nil)
                } else {
                    failed = ContinuousClock.now
                }
            }
            await pause()
        }
    }

    /// A damaged backup is not read whole after each run: that would keep its disk busy and tell nothing new.
    private static let pauseAfterFailure = Duration.seconds(1_800)

    private func isVerificationDue(_ verified: Timestamp?, _ failed: ContinuousClock.Instant?) -> Bool {
        let every = live.current.backupVerifyEvery.duration
        if let failed { return ContinuousClock.now - failed >= min(every, Self.pauseAfterFailure) }
        // A run that met damage read a part alone.
        guard let verified, metrics.counts?.isDamaged != true else { return true }
        // A clock that was ahead then must not put it off.
        let age = Timestamp.now().rawValue - verified.rawValue
        return age < 0 || age >= every.microseconds
    }

    /// Waits until the next backup is due, also if a reload changes that time.
    private func pause() async {
        let begin = ContinuousClock.now
        while !Task.isCancelled {
            noteIntervals()
            let left = begin + live.current.backupEvery.duration - ContinuousClock.now
            if left <= .zero { return }
            try? await Task.sleep(for: min(left, .seconds(5)))
        }
    }

    private func noteIntervals() {
        let settings = live.current
        metrics.update { counts in
            counts.every = settings.backupEvery.duration
            counts.verifyEvery = settings.backupVerifyEvery.duration
        }
    }

    /// Takes over what the manifest of an earlier start says. Returns when it was verified.
    private func lastKnown(_ plan: BackupPlan) -> Timestamp? {
        noteIntervals()
        let manifest = try? BackupFolder.manifest(in: plan.folder)
        metrics.update { counts in
            guard let manifest else { return }
            counts.succeeded = manifest.written
            counts.position = manifest.position
            counts.verified = manifest.verified
        }
        return manifest?.verified
    }

    /// One run. Returns its warning, which is logged if it is not `lastWarning`.
    private func backUpOnce(_ plan: BackupPlan, _ verified: Timestamp?, lastWarning: String?) async -> String? {
        let (begin, log) = (ContinuousClock.now, store.api.log)
        // A backup that was there and is not: begun again, it would be on another disk, or lack the times before.
        let expectsBackup = live.current.expectsBackup || metrics.counts?.succeeded != nil
        let configuration = live.file
        do {
            let report = try await Self.onThread("backup") { goesOn in
                let folder = try BackupFolder(path: plan.folder, store: log.path, expectsBackup: expectsBackup)
                var run = BackupRun(log: log, target: folder)
                run.program = Profiled.version
                run.verified = verified
                // Others are kept as the backup has them.
                run.settings = BackupPlan.settings(
                    keys: plan.keys, workspace: plan.workspace, configuration: configuration)
                return try run.run { _ in goesOn() }
            }
            if let warning = report.warning, warning != lastWarning { logger.warning("\(warning)") }
            for file in report.repaired {
                logger.warning(
                    "a file of the backup had lost its content, and was written again from the store: check that disk",
                    metadata: ["file": .string(file)])
            }
            metrics.update { counts in
                counts.position = report.position
                counts.rewritten += report.segmentsRewritten
                guard report.isComplete else { return }
                counts.succeeded = .now()
                counts.duration = ContinuousClock.now - begin
            }
            logger.debug("backed up", metadata: ["position": .stringConvertible(report.position.rawValue)])
            return report.warning
        } catch {
            report(error, "the store was not backed up")
            return lastWarning
        }
    }

    /// Reads the backup whole. Returns the time if it is sound.
    private func verify(_ plan: BackupPlan) async -> Timestamp? {
        do {
            let report = try await Self.onThread("backup-verify") { goesOn in
                try BackupVerifier(path: plan.folder).verify { _ in goesOn() }
            }
            if !report.isComplete { return nil }
            if let problem = report.problems.first {
                self.report(problem, "the backup is damaged in \(report.problems.count) of its files")
                return nil
            }
            let time = Timestamp.now()
            metrics.update { counts in
                counts.verified = time
                counts.isDamaged = false
            }
            return time
        } catch {
            report(error, "the backup was not verified")
            return nil
        }
    }

    private func report(_ error: any Error, _ what: String) {
        let reason = Self.reason(error)
        metrics.countFailure(reason)
        if reason == BackupError.Kind.damagedBackup.rawValue { metrics.update { $0.isDamaged = true } }
        let failure = error as? any LogError
        // These errors name files, positions and user numbers, and no value.
        logger.warning(
            "\(what)",
            metadata: [
                "error": .string(failure?.description ?? "\(type(of: error))"),
                "remedy": .string(failure?.remedy ?? "The service tries again."),
            ])
    }

    /// One word for the metric.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as BackupError: error.kind.rawValue
        case let error as StorageError: error.isDamage ? BackupMetrics.damagedStore : BackupMetrics.store
        default: BackupMetrics.other
        }
    }

    /// Runs `work` on a thread of its own, as it waits for the disk. It is told to stop when the task is cancelled.
    private static func onThread<Value: Sendable>(
        _ name: String, _ work: @escaping @Sendable (_ goesOn: () -> Bool) throws -> Value
    ) async throws -> Value {
        let isStopped = StopFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                startThread(name) {
                    BackupRun.yieldToWriters()
                    continuation.resume(with: Result { try work { !isStopped.isSet } })
                }
            }
        } onCancel: {
            isStopped.set()
        }
    }
}

/// Asks work on another thread to stop.
private final class StopFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
