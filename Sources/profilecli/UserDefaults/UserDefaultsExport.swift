internal import Foundation
internal import ProfileLog
internal import ProfileLogNativeAPI

/// One export of what waits on a device for an app group, as a preferences file.
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
        self.path = path
        device = options.place.device ?? DefaultDevice.name
        appGroup = try AppGroup.name(options.place.appGroup, path: path)
        isXML = options.xml
    }

    /// Writes the file, and says what is in it; throws if an item cannot be written there.
    mutating func run(_ place: Place) async throws {
        let others = try otherKeys()
        let connection = try place.connect()
        try await collect(connection)
        if entries.isEmpty, refusals.isEmpty { try await tellElsewhere(connection) }
        var members = others
        for kind in PendingKind.allCases { members[Name(kind.key)] = entries[kind].map { .array($0) } }
        let bytes = try PropertyList.dictionary(members).bytes(isXML: isXML)
        let file = try OutputFile(path)
        try await file.write { _ in try Output.write(bytes, to: file.descriptor) }
        for refusal in refusals { Output.message(DisplayWidth.oneLine(refusal)) }
        if users.count > 1 {
            Output.message("The items belong to \(users.count) users, and the file names none.")
        }
        if hasOtherCases {
            Output.message("The guide's app reads the user attribute email only, and skips all others.")
        }
        let kept = others.isEmpty ? "" : "; its \(Number.counted(UInt64(others.count), "other key")) stayed"
        let count = UInt64(entries.values.reduce(0) { $0 + $1.count })
        let what = "\(Number.counted(count, "item")) of \(device), \(appGroup)"
        Output.message(DisplayWidth.oneLine("Wrote \(what), to \(path)\(kept)."))
        if refusals.isEmpty { return }
        throw Failure(
            "\(Number.counted(UInt64(refusals.count), "item")) could not be written.",
            remedy: "The file can only set values; the rest still waits on the device.")
    }

    // MARK: - The file

    /// Whether a file is there that holds something; of a pipe nothing is known.
    private var isFileThere: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size > 0
    }

    /// What a file of this name holds apart from the three lists: it stays.
    private func otherKeys() throws -> [Name: PropertyList] {
        guard isFileThere else { return [:] }
        if OutputFile.isStandardOutput(path) {
            throw Failure(
                "Standard output is a file that is not empty, and a property list after that cannot be read. "
                    + "Nothing was written.",
                remedy: "Name the file itself, whose other keys stay, or a new one.")
        }
        do {
            let lists = Set(PendingKind.allCases.map { Name($0.key) })
            return try PreferencesFile(path: path).members.filter { !lists.contains($0.key) }
        } catch var failure as Failure {
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
            throw Failure(
                "More than \(Number.grouped(Self.mostItems)) items wait there.",
                remedy: "Launch the app on it (`profilecli launch`), or discard some (`profilecli pending discard`).")
        }
        for storage in answer.objects("devices").flatMap({ $0.objects("storages") }) {
            for kind in PendingKind.allCases {
                for item in storage.object("kinds").objects(Name(kind.key)) { add(item, kind) }
            }
        }
    }

    /// Nothing waits in the app group; if something does in another one, says so. The lists of an existing file are
    /// emptied all the same, and a new file is not made.
    private func tellElsewhere(_ connection: any Connection) async throws {
        let answer = try await connection.get("/v1/pending", [("device", device), ("limit", "\(Self.mostItems)")])
        let groups = answer.objects("devices").flatMap { $0.objects("storages") }.compactMap { $0["storage"].text }
            .filter(AppGroup.isValid)
        guard let first = groups.first else { return }
        let message = "Nothing waits in \(appGroup) on \(device); something does in \(groups.joined(separator: ", "))."
        guard isFileThere else {
            throw Failure(message, remedy: "Nothing was written. Add --app-group, as in --app-group \(first).")
        }
        Output.message(DisplayWidth.oneLine(message))
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
            entry[attribute.key] = try form(value, "an attribute", attribute.key)
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
        guard let value = try? JSONValues.value(json) else {
            throw .init(clause: "has \(noun) \(key) that cannot be read")
        }
        return try form(value, noun, key)
    }

    private static func form(
        _ value: AttributeValue, _ noun: String, _ key: Name
    ) throws(PropertyList.Misfit) -> PropertyList {
        do throws(PropertyList.Misfit) {
            return try PropertyList(value)
        } catch {
            throw .init(clause: "has \(noun) \(key) that \(error.clause)")
        }
    }
}
