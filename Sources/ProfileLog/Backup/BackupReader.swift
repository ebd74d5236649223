/// Reads a backup: each file is compared with the manifest, and each record with its checksum. `verify` and `restore`
/// read by it, so they accept the same backups.
package struct BackupReader: Sendable {
    /// The folder.
    package let path: String
    package let manifest: Manifest

    /// Reads the manifest of the backup in the folder `path`.
    package init(path: String) throws(BackupError) {
        guard let manifest = try BackupFolder.manifest(in: path) else { throw .noBackup(path: path) }
        self.init(path: path, manifest: manifest)
    }

    package init(path: String, manifest: Manifest) { (self.path, self.manifest) = (path, manifest) }

    /// The segment of the log in `file`, which the manifest names.
    package func segment(_ file: Manifest.SegmentFile) throws(BackupError) -> Segment {
        let bytes = try content(of: file.file)
        let segment = try checked(file.file) { () throws(BackupFault) in try Segment(bytes) }
        guard segment.store == manifest.store, segment.history == manifest.history, segment.first == file.first,
            segment.last == file.last, segment.recordedAt(file.first) == file.firstAt,
            segment.recordedAt(file.last) == file.lastAt
        else { throw damaged(file.file, "it is another segment than the manifest says") }
        return segment
    }

    /// All names of the backup.
    package func names() throws(BackupError) -> NamesSegment {
        let bytes = try content(of: manifest.names)
        let names = try checked(manifest.names) { () throws(BackupFault) in try NamesSegment(bytes) }
        guard names.store == manifest.store, names.history == manifest.history,
            names.rows.count == Int(manifest.nameCount)
        else { throw damaged(manifest.names, "it has other names than the manifest says") }
        return names
    }

    /// The content of a file of the backup, if its size and its SHA-256 are those of the manifest.
    package func content(of file: Manifest.File) throws(BackupError) -> [UInt8] {
        guard let bytes = try BackupFolder.content(of: file.name, in: path, count: file.bytes) else {
            throw damaged(file, "it is missing")
        }
        guard SHA256.hash(bytes) == file.sha256 else { throw damaged(file, "its SHA-256 is not that of the manifest") }
        return bytes
    }

    /// Tells whether `segment`, the bytes of one, begins with the records of `file`, which is read in pieces. Throws if
    /// the file is not what the manifest says.
    func beginsWithRecords(of file: Manifest.File, _ segment: [UInt8]) throws(BackupError) -> Bool {
        let end = file.bytes - Segment.footerBytes
        guard end >= Segment.headerBytes else { throw damaged(file, "it is cut") }
        guard let pieces = try BackupFilePieces(of: file.name, in: path, count: file.bytes) else {
            throw damaged(file, "it is missing")
        }
        var hash = SHA256()
        var offset = 0
        var isSame = end <= segment.count - Segment.footerBytes
        while let piece = try pieces.next() {
            hash.update(piece)
            let part = (Segment.headerBytes..<end).clamped(to: offset..<offset + piece.count)
            if isSame {
                isSame = segment.withUnsafeBytes { whole in
                    piece.withUnsafeBytes { piece in
                        whole.slice(part).hasSameBytes(
                            as: piece.slice(part.lowerBound - offset..<part.upperBound - offset))
                    }
                }
            }
            offset += piece.count
        }
        guard hash.finalize() == file.sha256 else { throw damaged(file, "its SHA-256 is not that of the manifest") }
        return isSame
    }

    private func checked<Result>(
        _ file: Manifest.File, _ read: () throws(BackupFault) -> Result
    ) throws(BackupError) -> Result {
        do throws(BackupFault) { return try read() } catch { throw damaged(file, error.reason) }
    }

    private func damaged(_ file: Manifest.File, _ reason: String) -> BackupError {
        .damaged(path: "\(path)/\(file.name)", reason: reason)
    }
}
