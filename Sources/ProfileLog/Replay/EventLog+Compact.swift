internal import Foundation

extension EventLog {
    /// Rewrites the file of the store in the folder `path`, so that nothing is in it but what the tables hold: free pages, where erased
    /// values may still stand, are gone, and their bytes go back to the disk.
    ///
    /// Needs the store alone (`StorageError.inUse` otherwise), and room for a second file. The new file takes the old one's place when it
    /// is complete and on the disk; until then a crash leaves the store as it was. Disks may keep what was in the old file, and so do
    /// backups.
    package static func compact(
        path: String, options: LogOptions = LogOptions(),
        projections: [any Projection.Type] = [ProfileProjection.self], progress: (LogProgress) -> Bool = { _ in true }
    ) throws -> Compaction {
        let log = try EventLog(
            path: path, create: false, options: options, projections: projections, creation: nil, alone: true)
        return try log.environment.replacingFile { replace in
            if let damage = try log.check().problems.first { throw StorageError.damaged(place: damage.description) }
            let before = log.environment.usedBytes
            let folder = path + "/compact"
            try? FileManager.default.removeItem(atPath: folder)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            guard let after = try copying(into: path, { try log.rewritten(in: folder, progress) }) else {
                return Compaction(bytesBefore: before, bytesAfter: before, isComplete: false)
            }
            try replace(folder + "/data.mdb")
            return Compaction(bytesBefore: before, bytesAfter: after, isComplete: true)
        }
    }

    /// Writes the whole store into a new one in `folder`, which is closed on return. Its used bytes; nil if `progress` stopped the work.
    private func rewritten(in folder: String, _ progress: (LogProgress) -> Bool) throws -> UInt64? {
        var target: EventLog? = try emptyCopy(in: folder)
        guard let log = target, try copyAll(into: log, progress) else { return nil }
        let bytes = log.environment.usedBytes
        target = nil
        return bytes
    }
}

/// What a compaction did.
package struct Compaction: Hashable, Sendable {
    /// Bytes of the file that were in use, free pages included.
    package var bytesBefore: UInt64
    /// Bytes that the new file uses.
    package var bytesAfter: UInt64
    /// Whether it was done; false if the caller stopped it, and the store is as it was.
    package var isComplete: Bool
}
