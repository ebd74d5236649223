internal import Foundation
internal import ProfileLog
internal import ProfileLogBrazeAPI
internal import ProfileLogNativeAPI

/// A scenario file, read and checked: what happens, step by step, and what must then be true.
struct Scenario: Sendable {
    /// The file as it was named.
    let file: String
    let name: String
    /// The time at the first step; nil if the file does not say it.
    let start: Timestamp?
    /// The file's field for the workspace; nil if nothing.
    let workspace: Workspace?
    let steps: [ScenarioStep]

    /// The clock of a scenario that names no time: a Monday.
    static let standardStart = Timestamp(rawValue: 1_767_603_600_000_000)  // 2026-01-05T09:00:00Z

    static let (mostBytes, mostSteps) = (1 << 20, 10_000)
}

/// One step: its kind, and what the file says of it.
struct ScenarioStep: Sendable {
    let kind: StepKind
    /// The line of the file, from 1.
    let line: Int
    /// The members of the request.
    fileprivate(set) var sent: [(member: String, value: AttributeValue)] = []
    /// The fields that the player reads, by their names.
    fileprivate(set) var own: [String: AttributeValue] = [:]
    /// The expectation of the answer; nil if nothing.
    fileprivate(set) var expected: Expected?
}

extension StepKind {
    /// The keys of a scenario file other than `steps`.
    static let scenarioFields: [StepField] = [
        .own("name", .text, "What the report calls it; the file's name if it is not said."),
        .own("start", .time, "What time it is at the first step; 2026-01-05T09:00:00Z if it is not said."),
        .own("workspace", .workspace, "The workspace (docs/workspace.md), or its file as seen from the scenario's."),
    ]
}

// MARK: - Reading

extension Scenario {
    /// Reads the file at `path`. A failure names the file, the line and the column.
    init(path: String) throws(CommandError) {
        let text = try Self.text(path)
        do throws(YAMLFileError) {
            try self.init(text, file: path)
        } catch {
            throw CommandError(error, in: path)
        }
    }

    /// The text of the file at `path`; `remedy` if it cannot be read.
    static func text(
        _ path: String, ifMissing remedy: String = "Check the path; `profilecli scenario new FILE` writes an example.",
        atMost mostBytes: Int = mostBytes
    ) throws(CommandError) -> String {
        let shown = path.oneLine
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            let pattern = path.hasSuffix("/") ? "\(shown)*.yaml" : "\(shown)/*.yaml"
            throw CommandError("\(shown) is a folder.", remedy: "Name its files: \(pattern)", status: .usage)
        }
        let bytes = try NamedFile.bytes(path, atMost: mostBytes, remedy: remedy)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(NamedFile.shown(path)) is not UTF-8.", remedy: "Save it as UTF-8.", status: .usage)
        }
        return text
    }

    /// Reads `yaml`, the content of `file`.
    init(_ yaml: String, file: String) throws(YAMLFileError) {
        guard let root = try YAMLNode(yaml: yaml, withAnchors: false) else {
            throw YAMLFileError(
                line: 1, place: "", reason: "is empty", remedy: "`profilecli scenario new FILE` writes an example.")
        }
        let fields = try root.fields(StepKind.scenarioFields.map(\.name) + ["steps"])
        let list = try fields.required("steps")
        let nodes = try list.elements()
        guard !nodes.isEmpty else { throw list.refusal("has no step", remedy: "Add one, as in `- launch`.") }
        guard nodes.count <= Self.mostSteps else {
            throw nodes[Self.mostSteps].refusal(
                "is one step too many: there are more than \(Number.grouped(Self.mostSteps))",
                remedy: "Split it into several scenarios.")
        }
        self.file = file
        let url = URL(filePath: file)
        name = try fields["name"]?.text() ?? url.deletingPathExtension().lastPathComponent
        start = try fields["start"].map { node throws(YAMLFileError) in
            let text = try StepField.Kind.time.read(node).text
            guard let start = text.flatMap(OccurredAt.init(iso8601:))?.timestamp, StoreClock.range.contains(start)
            else {
                throw node.refusal("must be a time from 1970 to 9999", remedy: "Write another one.")
            }
            return start
        }
        let folder = url.deletingLastPathComponent()
        workspace = try fields["workspace"].map { node throws(YAMLFileError) in
            try YAMLFile.workspace(node, in: folder)
        }
        var steps: [ScenarioStep] = []
        for node in nodes { steps.append(try ScenarioStep(node, in: folder)) }
        self.steps = steps
    }
}

extension ScenarioStep {
    /// Reads a step of a file in `folder`.
    init(_ node: YAMLNode, in folder: URL) throws(YAMLFileError) {
        guard node.isMapping else {
            kind = try Self.kind(node.text(), node)
            line = node.spot.line
            try read([:], node, folder)
            return
        }
        let members = try node.members()
        guard let (key, value) = members.first, members.count == 1 else {
            let names = members.map(\.key.text)
            throw node.refusal(
                members.isEmpty ? "is empty" : "has the keys \(names.joined(separator: ", ")): a step has one",
                remedy: "Begin each step with `- `, and indent its fields below its name.")
        }
        kind = try Self.kind(key.text, value)
        line = node.spot.line
        if value.isMapping {
            var fields: [String: YAMLNode] = [:]
            for (key, field) in try value.members() {
                guard kind.field(key.text) != nil else {
                    throw field.unknown(
                        "is no field of `\(kind.name)`", key: key.text, among: kind.allFields.map(\.name))
                }
                fields[key.text] = field
            }
            try read(fields, value, folder)
        } else if value.isNull {
            try read([:], value, folder)
        } else if let short = kind.short {
            try read([short: value], value, folder)
        } else {
            throw value.refusal("must be a mapping", remedy: "Write it as in `- \(kind.example)`.")
        }
    }

    private static func kind(_ name: String, _ node: YAMLNode) throws(YAMLFileError) -> StepKind {
        if let kind = StepKind.named(name) { return kind }
        throw node.unknown("is no step", key: name, among: StepKind.all.map(\.name))
    }

    private mutating func read(
        _ given: [String: YAMLNode], _ step: YAMLNode, _ folder: URL
    ) throws(YAMLFileError) {
        var parts: [(key: Name, value: Expected)] = []
        for field in kind.allFields {
            guard let node = given[field.name] else {
                guard field.isRequired else { continue }
                throw step.refusal("has no `\(field.name)`", remedy: "Write it as in `- \(kind.example)`.")
            }
            switch field.role {
            case .expected(let member):
                if case .object = field.kind { _ = try node.members() }
                parts.append((Name(member), try Expected(node)))
            case .sent(let member):
                switch field.kind {
                case .container: sent.append((member, .string(try YAMLFile.container(node, in: folder))))
                case .contentExtension: sent.append((member, try YAMLFile.contentExtension(node, in: folder)))
                default: sent.append((member, try field.kind.read(node)))
                }
            case .own where field.name == StepKind.answer.name: expected = try Expected(node)
            case .own: own[field.name] = try field.kind.read(node)
            }
        }
        if case .expect = kind.action { expected = Expected(line: line, form: .object(parts)) }
        try check(step)
    }

    /// Refuses what its request would refuse on any store, unless a refusal is expected.
    private func check(_ step: YAMLNode) throws(YAMLFileError) {
        if case .request = kind.action { return try checkPath(step) }
        guard case .post(let path) = kind.action, own[StepKind.refused.name] == nil else { return }
        let members = sent.filter { !path.contains("{\($0.member)}") }.map { member, value in
            AttributeValue.Member(Name(member), value)
        }
        do throws(APIError) {
            try NativeAPI.check(path, members)
        } catch {
            guard let reason = error.reason, let place = error.place else {
                throw step.refusal("would be refused: \(error.error.dropLast())", remedy: error.remedy)
            }
            throw step.refusal(at: fieldPath(place), reason, remedy: error.remedy)
        }
    }

    /// Refuses a path or a method that no endpoint has, unless that is expected. A service has paths of its own, so a
    /// path that is near to none is left to it.
    private func checkPath(_ step: YAMLNode) throws(YAMLFileError) {
        let request = ScenarioPlayer.request(self)
        let path = Self.endpoints.plain(request.path)
        let isRefusal = (own["status"]?.integer ?? 200) >= 400
        guard !isRefusal, Self.endpoints.endpoint(request.method, path) == nil else { return }
        let error = Self.endpoints.refusal(of: request.method.rawValue, at: path)
        if error.code == "unknown_path", !error.remedy.contains("Did you mean") { return }
        throw step.refusal("would be refused: \(error.error.dropLast())", remedy: error.remedy)
    }

    private static let endpoints = EndpointTable([NativeAPI.self, BrazeAPI.self])

    /// The place of a request's member, by the name of its field.
    private func fieldPath(_ place: String) -> String {
        for field in kind.allFields {
            guard case .sent(let member) = field.role, member != field.name, place.hasPrefix(member) else { continue }
            return field.name + place.dropFirst(member.count)
        }
        return place
    }
}
