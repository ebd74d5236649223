internal import ProfileLogFacts
internal import ProfileLogSnippets

/// The triggers of an exported container.
struct ExportTriggers {
    /// The tags for all events, and those that can be played, in the order of the file.
    private(set) var all: [TagTrigger] = []
    private(set) var unplayed: [TagContainer.Unplayed] = []
    private var places: [Name: Int] = [:]
    private var errors: [Name: YAMLFileError] = [:]
    private var (ids, names): (Set<Name>, Set<Name>) = ([], [])
    private var patternSteps: Int

    /// IDs from which the tag manager numbers triggers that are in no file.
    private static let firstBuiltIn = 2_147_479_552
    /// Triggers that fire on all events.
    private static let allEvents: Set<Name> = ["2147479553", "2147479556"]

    init(patternSteps: Int) {
        self.patternSteps = patternSteps
        all.append(TagTrigger(name: "All events", []))
        for id in Self.allEvents { places[id] = 0 }
    }

    /// The place of the trigger `id`, to which `node` refers.
    func place(of id: Name, _ node: YAMLNode) throws(TagExportError) -> Int {
        if let place = places[id] { return place }
        if let error = errors[id] {
            throw .unplayable(
                node, "refers to the trigger `\(error.place)`, which cannot be played", remedy: error.remedy)
        }
        if let number = Int(id.text), number >= Self.firstBuiltIn {
            throw .unplayable(node, "refers to a built-in trigger of other containers", remedy: "Use one of an app.")
        }
        throw .wrong(
            node, "refers to the trigger `\(id.text.shown)`, which is not there",
            remedy: "Export the container once more, with the trigger.")
    }

    mutating func add(_ object: ExportObject, _ variables: ExportVariables) throws(TagExportError) {
        guard let id = try object.text("triggerId") else {
            throw .wrong(object.node, "has no `triggerId`")
        }
        try object.claim("triggerId", in: &ids, "trigger")
        try object.claim("name", in: &names, "trigger")
        let name = try object.name()
        do throws(TagExportError) {
            let conditions = try conditions(object, variables)
            places[Name(id)] = all.count
            all.append(TagTrigger(name: name, conditions, firebaseEvent: Self.events[try object.type()]))
        } catch {
            unplayed.append(try error.unplayed(name))
            errors[Name(id)] = error.error
        }
    }

    // MARK: - Conditions

    /// The events of Firebase that triggers of these types wait for.
    private static let events: [String: Name] = [
        "FIREBASEAPPEXCEPTION": "app_exception", "FIREBASEAPPUPDATE": "app_update",
        "FIREBASECAMPAIGN": "firebase_campaign", "FIREBASEFIRSTOPEN": "first_open",
        "FIREBASEINAPPPURCHASE": "in_app_purchase", "FIREBASENOTIFICATIONDISMISS": "notification_dismiss",
        "FIREBASENOTIFICATIONFOREGROUND": "notification_foreground", "FIREBASENOTIFICATIONOPEN": "notification_open",
        "FIREBASENOTIFICATIONRECEIVE": "notification_receive", "FIREBASEOSUPDATE": "os_update",
        "FIREBASESESSIONSTART": "session_start", "FIREBASEUSERENGAGEMENT": "user_engagement",
    ]

    private mutating func conditions(
        _ object: ExportObject, _ variables: ExportVariables
    ) throws(TagExportError) -> [TagCondition] {
        let type = try object.type()
        var conditions: [TagCondition] = []
        if let event = Self.events[type] {
            conditions = TagTrigger(name: "", event: event).conditions
        } else if !["CUSTOMEVENT", "ALWAYS"].contains(type) {
            throw .unplayable(
                object.node, "has the type `\((try object.text("type") ?? "").shown)`, which no event of an app fires",
                remedy: "Use a trigger on a custom event.")
        }
        for key in ["customEventFilter", "filter"] {
            let filters = try object.objects(key)
            for filter in filters { conditions.append(try condition(filter, variables)) }
        }
        let others = try object.objects("autoEventFilter")
        if let other = others.first {
            throw .unplayable(other.node, "is a filter of a web page", remedy: "Take it out.")
        }
        return conditions
    }

    private mutating func condition(
        _ filter: ExportObject, _ variables: ExportVariables
    ) throws(TagExportError) -> TagCondition {
        let type = try filter.type()
        let parameters = try filter.parameters()
        let isNegated = try parameters.flag("negate")
        let isAnyCase = try parameters.flag("ignore_case")
        func operand(_ key: String) throws(TagExportError) -> TagValueSource {
            guard let parameter = parameters[key] else {
                throw .wrong(filter.node, "has no `\(key)`")
            }
            let text = try parameter.text("value") ?? ""
            return try variables.source(text, parameter.node)
        }
        let left = try operand("arg0")
        if isAnyCase, type != "MATCHREGEX" {
            throw .unplayable(
                filter.node, "ignores the case of letters, which only a regular expression can",
                remedy: "Use MATCH_REGEX.")
        }
        let test: TagCondition.Test
        switch type {
        case "EQUALS": test = .equals(try operand("arg1"))
        case "CONTAINS": test = .contains(try operand("arg1"))
        case "STARTSWITH": test = .startsWith(try operand("arg1"))
        case "ENDSWITH": test = .endsWith(try operand("arg1"))
        case "GREATER": test = .compares(.greater, try operand("arg1"))
        case "GREATEROREQUALS": test = .compares(.greaterOrEqual, try operand("arg1"))
        case "LESS": test = .compares(.less, try operand("arg1"))
        case "LESSOREQUALS": test = .compares(.lessOrEqual, try operand("arg1"))
        case "MATCHREGEX":
            guard case .fixed(.string(let pattern)) = try operand("arg1") else {
                throw .unplayable(filter.node, ExportPattern.varies, remedy: ExportPattern.writeItOut)
            }
            test = try ExportPattern.test(pattern, isAnyCase: isAnyCase, parameters["arg1"]?.node ?? filter.node)
            if case .matches(_, let pattern) = test { patternSteps += pattern.steps }
            guard patternSteps <= ExportVariables.maxPatternSteps else {
                throw ExportPattern.tooMany(filter.node)
            }
        default:
            throw .unplayable(
                filter.node, "compares by `\((try filter.text("type") ?? "").shown)`",
                remedy: "Use EQUALS, CONTAINS, STARTS_WITH, ENDS_WITH, MATCH_REGEX, GREATER or LESS.")
        }
        return TagCondition(left, test, isNegated: isNegated)
    }
}
