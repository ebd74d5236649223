internal import ProfileLogRequests

/// Saving on a device: it waits there for a launch.
extension NativeAPI {
    func saveEvent(_ request: APIRequest) async throws -> APIAnswer {
        try await save(request, Self.eventFields) { [.customEventSaved(try Self.customEvent($0))] }
    }

    func saveAttributes(_ request: APIRequest) async throws -> APIAnswer {
        try await save(request, Self.attributesFields) {
            try Self.attributeChanges($0).map { .customAttributesSaved($0) }
        }
    }

    func saveUserAttribute(_ request: APIRequest) async throws -> APIAnswer {
        try await save(request, Self.userAttributeFields) {
            [.userAttributeSaved(try Self.userAttributeChange($0, isImported: $0.flag("imported")))]
        }
    }

    static let saveFields: Set<Name> = [
        "user", "device", "process", "app_group", "private", "time", "item", "imported",
    ]

    private func save(
        _ request: APIRequest, _ content: Set<Name>, _ events: (Fields) throws -> [ProfileEvent]
    ) async throws -> APIAnswer {
        let fields = try Fields(request.body, Self.conditionFields.union(Self.saveFields).union(content))
        let (expected, key) = try Self.conditions(fields, request)
        return try await commit(Self.saving(fields, expected, key, events))
    }

    /// What the fields of a save say.
    static func saving(
        _ fields: Fields, _ expected: ExpectedVersion, _ key: String?, _ events: (Fields) throws -> [ProfileEvent]
    ) throws -> Write {
        let device = try fields.text("device").map { try Identifiers.device($0) } ?? defaultDevice
        let user = try fields.text("user").map { try Identifiers.user($0) } ?? .device(device)
        let process = try fields.text("process").map { Name($0) } ?? DeviceStorage.app
        let appGroup = try fields.text("app_group").map { Name($0) }
        let isPrivate = try fields.flag("private")
        if isPrivate, appGroup != nil { throw APIProblem.invalid("private", "and `app_group` exclude each other") }
        let storage: DeviceStorage =
            isPrivate ? .privateTo(process: process) : .appGroup(appGroup ?? defaultAppGroup)
        // What a real device had saved is stored as it is: its launch decides whether the SDK takes it.
        let source: EventSource =
            try fields.flag("imported") ? .import : process == DeviceStorage.app ? .app : .extension
        let context = EventContext(
            source: source, occurredAt: try fields.time("time"),
            process: process, device: device, storage: storage, item: try fields.text("item"))
        let events = try events(fields)
        return Write(user: user, context: context, events: events, expected: expected, key: key, savedOn: device)
    }
}

// MARK: - What is saved or logged

extension NativeAPI {
    static let eventFields: Set<Name> = ["name", "properties"]
    static let attributesFields: Set<Name> = ["attributes", "_merge_objects"]
    static let userAttributeFields: Set<Name> = ["attribute", "value"]

    static func customEvent(_ fields: Fields) throws -> CustomEvent {
        CustomEvent(name: Name(try fields.requiredText("name")), properties: try properties(fields))
    }

    static func properties(_ fields: Fields) throws -> [AttributeValue.Member]? {
        try fields.object("properties").map { properties in
            try properties.map { property in
                .init(
                    property.key,
                    try APIProblem.at("properties.\(property.key.text)") { try JSONValues.value(property.value) })
            }
        }
    }

    /// The changes that `attributes` asks for, as lists that become events one after the other: each attribute is in a
    /// list once.
    static func attributeChanges(_ fields: Fields) throws -> [[AttributeChange]] {
        guard let attributes = try fields.object("attributes") else {
            throw APIProblem.invalid("attributes", "is missing")
        }
        var merging = try fields.flag("_merge_objects")
        for member in attributes where member.key == JSONOperations.mergeObjects {
            guard case .bool(let flag) = member.value else {
                throw APIProblem.invalid(member.key.text, "must be true or false")
            }
            merging = merging || flag
        }
        var steps: [[AttributeChange]] = []
        for member in attributes where member.key != JSONOperations.mergeObjects {
            let operations = try APIProblem.at("attributes.\(member.key.text)") {
                try JSONOperations.operations(member.value, merging: merging)
            }
            for (step, operation) in operations.enumerated() {
                if step == steps.count { steps.append([]) }
                steps[step].append(AttributeChange(member.key, operation))
            }
        }
        guard !steps.isEmpty else { throw APIProblem.invalid("attributes", "must not be empty") }
        return steps
    }

    /// - Parameter isImported: whether a real device had saved it: then it is stored as it is.
    static func userAttributeChange(_ fields: Fields, isImported: Bool = false) throws -> UserAttributeChange {
        let name = try fields.requiredText("attribute")
        guard let attribute = StandardAttribute(name: name) else { throw APIProblem.unknownAttribute(name) }
        guard let value = fields.value("value") else {
            throw APIProblem.invalid("value", "is missing", remedy: "Send null to unset the attribute.")
        }
        let read = try APIProblem.at("value") { try JSONValues.value(value) }
        return try isImported
            ? UserAttributeChange(attribute, read) : UserAttributeChange(attribute, requested: read)
    }
}
