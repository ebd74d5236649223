/// A backup as a tar archive (POSIX ustar): the files of a folder, the manifest last.
///
/// What was written cannot be taken back, so a run that meets an erasure fails: the archive would keep what was erased.
/// One that its reader unpacks and removes, as a node does that joins a cluster, `holdsOldGenerations` instead.
package final class BackupArchive: BackupTarget {
    package let path = "-"
    private let output: ([UInt8]) throws -> Void
    private var names: Set<String> = []
    private let modified: Timestamp
    private let holdsOldGenerations: Bool

    /// Writes the archive by `output`, as made at `modified`.
    package init(
        modified: Timestamp, holdsOldGenerations: Bool = false, output: @escaping ([UInt8]) throws -> Void
    ) {
        (self.modified, self.holdsOldGenerations, self.output) = (modified, holdsOldGenerations, output)
    }

    package func manifest() -> Manifest? { nil }

    package func write(_ content: [UInt8], to name: String) throws {
        let stem = holdsOldGenerations ? name : BackupFileName(name)?.stem ?? name
        guard names.insert(stem).inserted else { throw BackupError.overtaken }
        try output(Self.header(name, bytes: content.count, modified))
        try output(content)
        let rest = content.count % Self.block
        if rest > 0 { try output([UInt8](repeating: 0, count: Self.block - rest)) }
    }

    package func commit(_ manifest: Manifest) throws {
        try write(manifest.bytes, to: Manifest.fileName)
        try output([UInt8](repeating: 0, count: 2 * Self.block))
    }

    package func removeUnnamed(_ manifest: Manifest?) {}

    static let block = 512

    /// The header of a file: fixed fields of text, numbers in octal digits.
    static func header(_ name: String, bytes: Int, _ modified: Timestamp) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at offset: Int) {
            let utf8 = Array(text.utf8)
            header.replaceSubrange(offset..<offset + utf8.count, with: utf8)
        }
        func octal(_ number: Int, digits: Int) -> String {
            let text = String(max(0, number), radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        put(name, at: 0)
        put(octal(0o600, digits: 7), at: 100)
        put(octal(0, digits: 7), at: 108)
        put(octal(0, digits: 7), at: 116)
        put(octal(bytes, digits: 11), at: 124)
        put(octal(Int(modified.rawValue / 1_000_000), digits: 11), at: 136)
        put("        ", at: 148)  // the checksum counts as spaces
        put("0", at: 156)
        put("ustar\u{0}00", at: 257)
        put(octal(header.reduce(0) { $0 + Int($1) }, digits: 6) + "\u{0} ", at: 148)
        return header
    }
}
