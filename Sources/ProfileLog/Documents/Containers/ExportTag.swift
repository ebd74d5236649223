internal import ProfileLogFacts
internal import ProfileLogSnippets

/// A tag of an exported container: a function call, which calls a class of the app.
struct ExportTag {
    let object: ExportObject
    let name: Name
    let variables: ExportVariables
    let triggers: ExportTriggers

    private static let classKeys = ["classPath", "className", "class", "functionName"]
    private static let types: Set<String> = ["func", "cfn"]

    func tag() throws(TagExportError) -> TagContainer.Tag {
        let (type, isPaused) = (try object.text("type") ?? "", try object.flag("paused"))
        let parameters = try object.parameters()
        // A function call names a class of the app, whatever the code of its type is.
        let classKey = Self.classKeys.first { parameters[$0] != nil }
        guard classKey != nil || Self.types.contains(type) else {
            throw .unplayable(
                object.node, "has the type `\(type.shown)`: it calls no class of the app",
                remedy: "Only function calls reach the provider.")
        }
        if isPaused {
            throw .unplayable(object.node, "is paused", remedy: "Unpause it, and export again.")
        }
        for key in ["scheduleStartMs", "scheduleEndMs", "firingRuleId", "blockingRuleId"] {
            guard let node = object[key] else { continue }
            if node.isList, try object.elements(key).isEmpty { continue }
            throw .unplayable(
                node, key.hasPrefix("schedule") ? "is a schedule" : "is a rule of an older tag manager",
                remedy: "Take it out to play the tag.")
        }
        let path = try classKey.flatMap { (key) throws(TagExportError) in try parameters.text(key) } ?? ""
        return TagContainer.Tag(
            name: name, classPath: path, firing: try firing().places, blocking: try blocking(),
            parameters: try arguments(parameters))
    }

    /// The higher, the earlier it fires.
    func priority() throws(TagExportError) -> Int {
        Int(try object.object("priority")?.text("value") ?? "") ?? 0
    }

    /// Returns notes about a tag that is played otherwise than in the app.
    func notes() throws(TagExportError) -> [TagContainer.Unplayed] {
        var notes: [TagContainer.Unplayed] = []
        func add(_ node: YAMLNode, _ reason: String, _ remedy: String) {
            let error = node.refusal(reason, remedy: remedy)
            notes.append(.init(place: error.place, name: name, reason: error.reason, remedy: error.remedy))
        }
        if let node = object["tagFiringOption"],
            ExportObject.spelled(try object.text("tagFiringOption") ?? "") == "ONCEPERLOAD"
        {
            add(node, "is once in a run of the app; here the tag fires at every event", "Count the first one alone.")
        }
        for key in ["setupTag", "teardownTag"] {
            guard let node = object[key], try !object.elements(key).isEmpty else { continue }
            add(node, "is a sequence of tags; here each fires by its own triggers", "Give the other tag a trigger.")
        }
        if let settings = try object.object("consentSettings"),
            ExportObject.spelled(try settings.text("consentStatus") ?? "") == "NEEDED"
        {
            add(settings.node, "asks for consent; here it is given", "Try the event of a user who consented.")
        }
        return notes + (try firing().unplayed)
    }

    // MARK: - Triggers

    /// The triggers that fire it. If one cannot be played, the others still fire it.
    private func firing() throws(TagExportError) -> (places: [Int], unplayed: [TagContainer.Unplayed]) {
        let ids = try object.texts("firingTriggerId")
        var (places, unplayed): ([Int], [TagContainer.Unplayed]) = ([], [])
        var last: TagExportError?
        for id in ids {
            do throws(TagExportError) {
                let place = try triggers.place(of: id.text, id.node)
                if !places.contains(place) { places.append(place) }
            } catch {
                unplayed.append(try error.unplayed(name))
                last = error
            }
        }
        if places.isEmpty {
            throw last ?? .unplayable(object.node, "has no trigger that fires it", remedy: "Give it one.")
        }
        return (places, unplayed)
    }

    private func blocking() throws(TagExportError) -> [Int] {
        let ids = try object.texts("blockingTriggerId")
        var places: [Int] = []
        for id in ids {
            let place = try triggers.place(of: id.text, id.node)
            if !places.contains(place) { places.append(place) }
        }
        return places
    }

    // MARK: - Parameters

    /// Returns the arguments for the class: the rows of its list `functionArgument`, each with a `key` and a `value`;
    /// the members of a map, and parameters of its own, are the same.
    private func arguments(_ parameters: ExportParameters) throws(TagExportError) -> [TagContainer.Tag.Parameter] {
        var arguments: [TagContainer.Tag.Parameter] = []
        for parameter in parameters.all {
            guard let key = try parameter.text("key"), !Self.classKeys.contains(key) else { continue }
            if parameter["list"] != nil {
                for row in try parameter.objects("list") {
                    let cells = try row.parameters("map")
                    arguments.append(
                        .init(try source(cells["key"] ?? cells["name"], row), try source(cells["value"], row)))
                }
            } else if parameter["map"] != nil {
                for member in try parameter.objects("map") {
                    guard let key = try member.text("key") else { continue }
                    arguments.append(.init(Name(key), try source(member, member)))
                }
            } else if parameter["value"] != nil {
                arguments.append(.init(Name(key), try source(parameter, parameter)))
            }
        }
        return arguments
    }

    private func source(_ cell: ExportObject?, _ row: ExportObject) throws(TagExportError) -> TagValueSource {
        guard let cell else {
            throw .wrong(row.node, "has no `key` or no `value`")
        }
        if cell["list"] != nil || cell["map"] != nil {
            throw .unplayable(cell.node, "is a list or a map in a parameter", remedy: "Write it as text.")
        }
        let text = try cell.text("value") ?? ""
        return try variables.source(text, cell.node)
    }
}
