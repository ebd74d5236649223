/// The name of a file of a backup: what is written again gets a new generation, and the manifest says which one
/// counts.
///
///     log/00000042.seg
///     log/00000042.g7.seg
///     names.g7.seg
///     settings/keys.json
struct BackupFileName: Hashable {
    /// The name without generation and extension, as in `log/00000042`.
    var stem: String
    var generation = 0
    /// `seg`, or that of a file of settings.
    var ending: String

    /// The files of settings that a backup may have.
    static let settingsNames = ["keys.json", "workspace.yaml", "profiled.yaml"]
    static let logFolder = "log"
    static let settingsFolder = "settings"
    /// The end of the name of a file that is not complete.
    static let unfinished = ".new"

    var text: String { generation == 0 ? "\(stem).\(ending)" : "\(stem).g\(generation).\(ending)" }
    var next: BackupFileName { BackupFileName(stem: stem, generation: generation + 1, ending: ending) }

    static func segment(_ number: UInt64) -> BackupFileName {
        let digits = String(number)
        return BackupFileName(
            stem: "\(logFolder)/" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits, ending: "seg")
    }

    static let names = BackupFileName(stem: "names", ending: "seg")

    /// The file of settings `name`, which is one of `settingsNames`.
    static func settings(_ name: String) -> BackupFileName {
        let parts = name.split(separator: ".", maxSplits: 1)
        return BackupFileName(stem: "\(settingsFolder)/\(parts[0])", ending: String(parts.last ?? ""))
    }

    private init(stem: String, generation: Int = 0, ending: String) {
        (self.stem, self.generation, self.ending) = (stem, generation, ending)
    }

    /// Reads a name; nil if no program of ours gives it.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, parts.count == 2 || parts.count == 3 else { return nil }
        (stem, ending) = (String(first), String(last))
        if parts.count == 3 {
            guard parts[1].first == "g", let number = Int(parts[1].dropFirst()), number > 0 else { return nil }
            generation = number
        }
        guard self.text == text, isKnown else { return nil }
    }

    private var isKnown: Bool {
        if self.stem == Self.names.stem { return ending == Self.names.ending }
        let parts = stem.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return false }
        if parts[0] == Self.settingsFolder { return Self.settingsNames.contains("\(parts[1]).\(ending)") }
        guard parts[0] == Self.logFolder, ending == "seg", let number = UInt64(parts[1]), number > 0 else {
            return false
        }
        return Self.segment(number).stem == stem
    }
}
