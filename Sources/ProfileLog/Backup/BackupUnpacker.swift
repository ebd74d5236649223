internal import Glibc

/// Unpacks a backup that comes as a tar archive (`BackupArchive`), in pieces of any length, into a folder. Nothing of
/// it counts before the manifest, which comes last, and `BackupReader` compares every file with that.
package final class BackupUnpacker {
    private enum State {
        case header([UInt8])
        case content(descriptor: Int32, left: Int, padding: Int)
        case padding(left: Int)
        case end
    }

    /// The folder.
    package let path: String
    /// Bytes that came by now.
    package private(set) var bytes: UInt64 = 0
    private var state = State.header([])
    private var hasManifest = false

    /// Unpacks into the folder `path`, which is empty.
    package init(path: String) { self.path = path }

    deinit { if case .content(let descriptor, _, _) = state { close(descriptor) } }

    /// Tells whether the archive came to its end.
    package var isComplete: Bool { if case .end = state { hasManifest } else { false } }

    /// Takes the next piece.
    package func add(_ piece: [UInt8]) throws(BackupError) {
        bytes += UInt64(piece.count)
        var rest = piece[...]
        while !rest.isEmpty {
            switch state {
            case .header(let begun):
                let part = rest.prefix(BackupArchive.block - begun.count)
                rest = rest.dropFirst(part.count)
                let header = begun + part
                state = try header.count < BackupArchive.block ? .header(header) : begin(header)
            case .content(let descriptor, let left, let padding):
                let part = rest.prefix(left)
                rest = rest.dropFirst(part.count)
                try write(part, to: descriptor)
                state = .content(descriptor: descriptor, left: left - part.count, padding: padding)
                if left == part.count { end(descriptor, padding) }
            case .padding(let left):
                let count = min(left, rest.count)
                rest = rest.dropFirst(count)
                state = left > count ? .padding(left: left - count) : .header([])
            case .end: return
            }
        }
    }

    // MARK: - Files

    /// Begins the file of a header.
    private func begin(_ header: [UInt8]) throws(BackupError) -> State {
        if header.allSatisfy({ $0 == 0 }) { return .end }
        guard let (name, count) = Self.file(header),
            BackupFolder.isFileName(name) || name == Manifest.fileName, !hasManifest
        else { throw .damaged(path: path, reason: "the archive has a file that is none of a backup") }
        if let slash = name.lastIndex(of: "/"), mkdir("\(path)/\(name[..<slash])", 0o700) != 0, errno != EEXIST {
            throw .of(errno, path: path)
        }
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .of(errno, path: "\(path)/\(name)") }
        hasManifest = name == Manifest.fileName
        let padding = (BackupArchive.block - count % BackupArchive.block) % BackupArchive.block
        if count > 0 { return .content(descriptor: descriptor, left: count, padding: padding) }
        close(descriptor)
        return .header([])
    }

    private func end(_ descriptor: Int32, _ padding: Int) {
        // It will be read again; until then its last pages may go to the disk.
        close(descriptor)
        state = padding > 0 ? .padding(left: padding) : .header([])
    }

    private func write(_ part: ArraySlice<UInt8>, to descriptor: Int32) throws(BackupError) {
        let code = FolderFiles.write(part, to: descriptor)
        if code != 0 { throw .of(code, path: path) }
    }

    /// The name and the size of the file that a header announces; nil if it is no header of `BackupArchive`.
    private static func file(_ header: [UInt8]) -> (name: String, count: Int)? {
        func text(_ range: Range<Int>) -> String {
            String(decoding: header[range].prefix { $0 != 0 && $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }
        let sum = header.enumerated().reduce(0) { sum, byte in
            sum + ((148..<156).contains(byte.offset) ? 0x20 : Int(byte.element))
        }
        guard text(257..<262) == "ustar", Int(text(148..<154), radix: 8) == sum, header[156] == UInt8(ascii: "0"),
            let count = Int(text(124..<135), radix: 8)
        else { return nil }
        return (text(0..<100), count)
    }
}
