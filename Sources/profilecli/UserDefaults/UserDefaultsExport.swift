internal import ArgumentParser
internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// Options of `import --user-defaults` and `export --user-defaults`: the device and app group of a preferences file.
struct AppGroupOptions: ParsableArguments {
    @Option(help: .init("With --user-defaults: the device (default: phone).", valueName: "id")) var device: String?

    @Option(help: .init("With --user-defaults: the app group (default: as the file is named).", valueName: "name"))
    var appGroup: String?

    mutating func validate() throws {
        if let appGroup, !AppGroup.isValid(appGroup) {
            throw ValidationError("--app-group must begin with group., as in group.com.company.app.")
        }
    }

    var isGiven: Bool { device != nil || appGroup != nil }
}

/// `profilecli import --user-defaults` and what belongs to it.
struct UserDefaultsImportOptions: ParsableArguments {
    @Option(
        name: .customLong("user-defaults"),
        help: .init(
            "Instead of JSON Lines: an app group's preferences, whose pending items are saved.", valueName: "file.plist"
        ),
        completion: .file(extensions: ["plist"]))
    var file: String?

    @OptionGroup var place: AppGroupOptions

    @Option(help: .init("With --user-defaults: who saved, app or an extension's name.", valueName: "name"))
    var process: String?

    @Option(help: .init("With --user-defaults: whose items they are, a USER (default: the device's)."))
    var user: String?

    @Option(
        help: .init("With --user-defaults: how user attributes may be coded: auto, swift or objc.", valueName: "name"))
    var language = UserAttributeCoding.Language.auto

    @Flag(help: "With --user-defaults: save nothing unless everything can be.") var strict = false

    mutating func validate() throws {
        if file == nil, place.isGiven || process != nil || user != nil || strict || language != .auto {
            throw ValidationError(
                "--device, --app-group, --process, --user, --language and --strict need --user-defaults FILE.")
        }
    }
}

/// `profilecli export --user-defaults` and what belongs to it.
struct UserDefaultsExportOptions: ParsableArguments {
    @Option(
        name: .customLong("user-defaults"),
        help: .init(
            "Instead of JSON Lines: what waits on a device, as an app group's preferences.", valueName: "file.plist"),
        completion: .file(extensions: ["plist"]))
    var file: String?

    @OptionGroup var place: AppGroupOptions
    @Flag(help: "With --user-defaults: write XML, whose dates have whole seconds (default: binary).") var xml = false

    mutating func validate() throws {
        if file == nil, place.isGiven || xml {
            throw ValidationError("--device, --app-group and --xml need --user-defaults FILE.")
        }
    }
}

/// An app group's name, which begins with `group.`.
enum AppGroup {
    static func isValid(_ name: String) -> Bool { name.hasPrefix("group.") && name.count > "group.".count }

    /// `given`, or the app group after which the preferences file at `path` is named.
    static func name(_ given: String?, path: String) throws -> String {
        if let given { return given }
        if let file = path.split(separator: "/").last, file.hasSuffix(".plist") {
            let name = String(file.dropLast(".plist".count))
            if isValid(name) { return name }
        }
        throw CommandError(
            "The name of \(path) is not that of an app group, which begins with group. and ends with .plist.",
            remedy: "Add --app-group, as in --app-group group.com.company.app.", status: .usage)
    }
}

struct UserDefaultsExport {
    private let path: String
    private let device: String
    private let appGroup: String
    private let isXML: Bool
    private var entries: [PendingKind: [PropertyList]] = [:]
    private var refusals: [String] = []
    private var users: Set<String> = []
    private var hasOtherCases = false

    init(path: String, _ options: UserDefaultsExportOptions) throws {
        (self.path, device, isXML) = (path, options.place.device ?? DefaultDevice.name, options.xml)
        appGroup = try AppGroup.name(options.place.appGroup, path: path)
    }

    /// Writes the file, and says what is in it; throws if an item cannot be written there.
    mutating func run(_ place: some PlaceArguments) async throws {
        let others = try otherKeys()
        let connection = try place.connect()
        try await collect(connection)
        if entries.isEmpty, refusals.isEmpty { try await tellElsewhere(connection) }
        var members = others
        for kind in PendingKind.allCases { members[Name(kind.key)] = entries[kind].map { .array($0) } }
        let bytes = try PropertyList.dictionary(members).bytes(isXML: isXML)
        let file = try OutputFile(path)
        try await file.write { _ in try Output.write(bytes, to: file.descriptor) }
        for refusal in refusals { Output.message(refusal) }
        if users.count > 1 { Output.message("The items belong to \(users.count) users, and the file names none.") }
        if hasOtherCases {
            Output.message("The guide's app reads the user attribute email only, and skips all others.")
        }
        let kept = others.isEmpty ? "" : "; its \(Number.counted(UInt64(others.count), "other key")) stayed"
        let count = UInt64(entries.values.reduce(0) { $0 + $1.count })
        let what = "\(Number.counted(count, "item")) of \(device), \(appGroup)"
        Output.message("Wrote \(what), to \(path)\(kept).")
        if refusals.isEmpty { return }
        throw CommandError(
            "\(Number.counted(UInt64(refusals.count), "item")) could not be written.",
            remedy: "The file can only set values; the rest still waits on the device.")
    }

    // MARK: - The file

    /// Tells whether there is a file with content; of a pipe nothing is known.
    private var isFileThere: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    /// Returns the keys of a file of this name apart from the three lists: it stays.
    private func otherKeys() throws -> [Name: PropertyList] {
        guard isFileThere else { return [:] }
        if OutputFile.isStandardOutput(path) {
            throw CommandError(
                "Standard output is a file that is not empty, and a property list after that cannot be read. "
                    + "Nothing was written.",
                remedy: "Name the file itself, whose other keys stay, or a new one.")
        }
        do {
            let lists = Set(PendingKind.allCases.map { Name($0.key) })
            return try PreferencesFile(path: path).members.filter { !lists.contains($0.key) }
        } catch var failure as CommandError {
            failure.message += " Nothing was written."
            failure.remedy = "Name a new file, or one with an app group's preferences, whose other keys stay."
            throw failure
        }
    }

    // MARK: - The items

    private static let mostItems = 100_000

    private mutating func collect(_ connection: any Connection) async throws {
        let query = [("device", device), ("storage", appGroup), ("limit", "\(Self.mostItems)")]
        let answer = try await connection.get("/v1/pending", query)
        guard answer.count("total") + answer.count("queued") == answer.count("listed") else {
            throw CommandError(
                "More than \(Number.grouped(Self.mostItems)) items wait there.",
                remedy: "Launch the app on it (`profilecli launch`), or discard some (`profilecli pending discard`).")
        }
        for storage in answer.objects("devices").flatMap({ $0.objects("storages") }) {
            for kind in PendingKind.allCases {
                for item in storage.object("kinds").objects(Name(kind.key)) { add(item, kind) }
            }
        }
    }

    /// Names other app groups in which something waits. Then no new file is made; the lists of an old one are emptied.
    private func tellElsewhere(_ connection: any Connection) async throws {
        let answer = try await connection.get("/v1/pending", [("device", device), ("limit", "\(Self.mostItems)")])
        let groups = answer.objects("devices").flatMap { $0.objects("storages") }.compactMap { $0["storage"].text }
            .filter(AppGroup.isValid)
        guard let first = groups.first else { return }
        let message = "Nothing waits in \(appGroup) on \(device); something does in \(groups.joined(separator: ", "))."
        guard isFileThere else {
            throw CommandError(message, remedy: "Nothing was written. Add --app-group, as in --app-group \(first).")
        }
        Output.message(message)
    }

    private mutating func add(_ item: JSONObject, _ kind: PendingKind) {
        do throws(PropertyList.Misfit) {
            let entry =
                switch kind {
                case .customEvents: try Self.event(item)
                case .customAttributes: try Self.attributes(item)
                case .userAttributes: try userAttribute(item)
                }
            entries[kind, default: []].append(entry)
            if let user = item["user"].text { users.insert(user) }
        } catch {
            refusals.append("The item saved at position \(item["position"].cell) \(error.clause).")
        }
    }

    private static func event(_ item: JSONObject) throws(PropertyList.Misfit) -> PropertyList {
        var entry: [Name: PropertyList] = [PendingLists.eventName: .string(item["name"].text ?? "")]
        for property in item["properties"].members {
            guard property.key != PendingLists.eventName else {
                throw .init(clause: "has a property event_name, which would replace the event's name")
            }
            entry[property.key] = try value(property.value, "a property", property.key)
        }
        return .dictionary(entry)
    }

    private static func attributes(_ item: JSONObject) throws(PropertyList.Misfit) -> PropertyList {
        var entry: [Name: PropertyList] = [:]
        for attribute in item["attributes"].members {
            guard let operations = try? JSONOperations.operations(attribute.value), operations.count == 1,
                case .set(let value) = operations[0]
            else { throw .init(clause: "does not set the attribute \(attribute.key), and the file can only set") }
            entry[attribute.key] = try PropertyList.Misfit.naming("an attribute", attribute.key) {
                () throws(PropertyList.Misfit) in try PropertyList(value)
            }
        }
        return .dictionary(entry)
    }

    private mutating func userAttribute(_ item: JSONObject) throws(PropertyList.Misfit) -> PropertyList {
        let name = item["attribute"].text ?? ""
        guard let attribute = StandardAttribute(name: name) else {
            throw .init(clause: "sets the user attribute \(name), which this program does not know")
        }
        let value = item["value"]
        if value.text == KeyedArchive.none {
            throw .init(clause: "sets \(name) to the text that means none in the file")
        }
        let coded = value == .null ? nil : try Self.value(value, "a user attribute", Name(name))
        guard let data = try? UserAttributeCoding.encode(attribute, coded) else {
            throw .init(clause: "has a user attribute \(name) that cannot be coded")
        }
        if attribute != .email { hasOtherCases = true }
        return .data(data)
    }

    private static func value(
        _ json: AttributeValue, _ noun: String, _ key: Name
    ) throws(PropertyList.Misfit) -> PropertyList {
        try PropertyList.Misfit.naming(noun, key) { () throws(PropertyList.Misfit) in
            guard let value = try? JSONValues.value(json) else { throw .init(clause: "cannot be read") }
            return try PropertyList(value)
        }
    }
}
