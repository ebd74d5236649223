internal import ProfileLogFacts
internal import ProfileLogSnippets

/// The variables of an exported container: the user's, and those that are built in.
struct ExportVariables {
    /// In the order of the file; the built-in ones come last. Those that cannot be played have no value.
    private(set) var all: [TagVariable] = []
    private var places: [Name: Int] = [:]
    /// The reason why a variable cannot be played, by its place.
    private var errors: [Int: TagExportError] = [:]
    /// The user's variables that cannot be played.
    private(set) var unplayed: [TagContainer.Unplayed] = []

    /// The steps of its regular expressions.
    private(set) var patternSteps = 0

    /// The deepest chain of variables that stand for others.
    private static let maxDepth = 32
    /// Steps of all regular expressions of a container together.
    static let maxPatternSteps = 50_000

    /// A declaration, before its references are followed.
    private struct Declared {
        let name: Name
        let node: YAMLNode
        let object: ExportObject?
        /// The types of a built-in variable.
        let builtIn: BuiltIn?
    }

    private enum BuiltIn {
        case value(TagValueSource)
        case eventParameter(String)
        case unknown(String)
    }

    /// The container's own facts, which some built-in variables have.
    private struct Facts {
        var platform, publicID, version: String?
    }

    init(
        _ version: ExportObject, _ container: ExportObject?, platform: String?, given: [Name: AttributeValue]
    ) throws(TagExportError) {
        let facts = Facts(
            platform: platform, publicID: try container?.text("publicId"),
            version: try version.text("containerVersionId"))
        var declared: [Declared] = []
        var numbers: Set<Name> = []
        for object in try version.objects("variable") {
            try object.claim("variableId", in: &numbers, "variable")
            declared.append(Declared(name: try object.name(), node: object.node, object: object, builtIn: nil))
        }
        for object in try version.objects("builtInVariable") {
            let builtIn = Self.builtIn(try object.type(), facts)
            declared.append(Declared(name: try object.name(), node: object.node, object: nil, builtIn: builtIn))
        }
        for variable in declared {
            guard places.updateValue(all.count, forKey: variable.name) == nil else {
                throw .wrong(variable.node, "has the name of another variable", remedy: "Keep one of the two.")
            }
            all.append(TagVariable(name: variable.name, .nothing))
        }
        for name: Name in ["_event", "Event Name"] where places[name] == nil {
            places[name] = all.count
            declared.append(Declared(name: name, node: version.node, object: nil, builtIn: .value(.eventName)))
            all.append(TagVariable(name: name, .nothing))
        }
        var reader = Reader(declared: declared, places: places, given: given, facts: facts, all: all)
        for place in declared.indices {
            do throws(TagExportError) { try reader.read(place, from: declared[place].node) } catch {
                guard error.isUnplayable else { throw error }
            }
        }
        (all, errors) = (reader.all, reader.errors)
        for place in declared.indices where declared[place].object != nil {
            if let error = errors[place] { unplayed.append(try error.unplayed(declared[place].name)) }
        }
        patternSteps = reader.patternSteps
    }

    /// The value of `template`. `parameter` is where it is.
    func source(_ template: String, _ parameter: YAMLNode) throws(TagExportError) -> TagValueSource {
        try TagTemplate(template).source { (name) throws(TagExportError) in
            guard let place = places[name] else { throw Self.missing(name, parameter, places) }
            if let error = errors[place] { throw Self.using(name, error, parameter) }
            return .variable(place)
        }
    }

    private static func missing(_ name: Name, _ node: YAMLNode, _ places: [Name: Int]) -> TagExportError {
        let names = places.keys.sorted().map(\.text)
        let remedy =
            NearestNames(to: name.text, among: names).close.first.map { "Did you mean `\($0.shown)`?" }
            ?? "The variables are \(names.prefix(20).map(\.shown).joined(separator: ", "))."
        return .wrong(node, "refers to the variable `\(name.text.shown)`, which is not there", remedy: remedy)
    }

    /// The error of a part that uses the variable `name`, which has `error` itself.
    private static func using(_ name: Name, _ error: TagExportError, _ node: YAMLNode) -> TagExportError {
        let shown = name.text.shown
        return .unplayable(
            node, "needs the variable `\(shown)` (`\(error.error.place)`), which \(error.error.reason)",
            remedy: error.error.remedy)
    }

    // MARK: - Built-in variables

    private static func builtIn(_ type: String, _ facts: Facts) -> BuiltIn {
        func fixed(_ text: String?) -> BuiltIn? { text.map { .value(.fixed(.string($0))) } }
        switch type {
        case "EVENTNAME", "EVENT": return .value(.eventName)
        case "CONTAINERID": return fixed(facts.publicID) ?? .unknown("the container's ID")
        case "CONTAINERVERSION": return fixed(facts.version) ?? .unknown("the container's version")
        case "PLATFORM": return fixed(facts.platform) ?? .unknown("the platform")
        case let type where type.hasPrefix("FIREBASEEVENTPARAMETER"):
            guard let name = eventParameters[String(type.dropFirst(22))] else {
                return .unknown("a parameter of another event")
            }
            return .eventParameter(name)
        default: return .unknown("a fact of the device or the app")
        }
    }

    /// The parameters that Firebase's own events have, by the end of the built-in variable's type.
    private static let eventParameters = [
        "CAMPAIGN": "campaign", "CAMPAIGNACLID": "aclid", "CAMPAIGNANID": "anid",
        "CAMPAIGNCLICKTIMESTAMP": "click_timestamp", "CAMPAIGNCONTENT": "content", "CAMPAIGNCP1": "cp1",
        "CAMPAIGNGCLID": "gclid", "CAMPAIGNMEDIUM": "medium", "CAMPAIGNSOURCE": "source", "CAMPAIGNTERM": "term",
        "CURRENCY": "currency", "DYNAMICLINKACCEPTTIME": "dynamic_link_accept_time",
        "DYNAMICLINKLINKID": "dynamic_link_link_id", "NOTIFICATIONMESSAGEDEVICETIME": "message_device_time",
        "NOTIFICATIONMESSAGEID": "message_id", "NOTIFICATIONMESSAGENAME": "message_name",
        "NOTIFICATIONMESSAGETIME": "message_time", "NOTIFICATIONTOPIC": "topic",
        "PREVIOUSAPPVERSION": "previous_app_version", "PREVIOUSOSVERSION": "previous_os_version", "PRICE": "price",
        "PRODUCTID": "product_id", "QUANTITY": "quantity", "VALUE": "value",
    ]

    // MARK: - Following references

    /// Reads each variable once, those that it refers to first.
    private struct Reader {
        let declared: [Declared]
        let places: [Name: Int]
        let given: [Name: AttributeValue]
        let facts: Facts
        var all: [TagVariable]
        var errors: [Int: TagExportError] = [:]
        private var states: [State]
        /// The depth of variables that are being read.
        private var heights: [Int]
        /// The variables that are being read, each for the one before it.
        private var path: [Int] = []
        var patternSteps = 0

        private enum State { case unread, reading, read }

        init(
            declared: [Declared], places: [Name: Int], given: [Name: AttributeValue], facts: Facts, all: [TagVariable]
        ) {
            (self.declared, self.places, self.given, self.facts, self.all) = (declared, places, given, facts, all)
            states = Array(repeating: .unread, count: declared.count)
            heights = Array(repeating: 1, count: declared.count)
        }

        /// Reads the variable at `place`, to which `node` refers.
        mutating func read(_ place: Int, from node: YAMLNode) throws(TagExportError) {
            switch states[place] {
            case .read: if let error = errors[place] { throw error }
            case .reading:
                throw .wrong(
                    node, "refers to `\(declared[place].name.text.shown)`, which refers to itself",
                    remedy: "Take one of the references out.")
            case .unread:
                guard path.count < maxDepth else { throw Self.tooDeep(node) }
                states[place] = .reading
                path.append(place)
                defer {
                    path.removeLast()
                    states[place] = .read
                }
                do throws(TagExportError) { try fill(place) } catch {
                    errors[place] = error
                    throw error
                }
            }
            guard let reader = path.last else { return }
            heights[reader] = max(heights[reader], heights[place] + 1)
            if heights[reader] > maxDepth { throw Self.tooDeep(node) }
        }

        private static func tooDeep(_ node: YAMLNode) -> TagExportError {
            .wrong(
                node, "is a variable in a variable, more than \(maxDepth) deep",
                remedy: "Let fewer refer to each other.")
        }

        private mutating func fill(_ place: Int) throws(TagExportError) {
            let variable = declared[place]
            if let value = given[variable.name] {
                all[place].rule = .value(.fixed(value))
            } else if let object = variable.object {
                try fill(place, object)
            } else {
                switch variable.builtIn {
                case .value(let source): all[place].rule = .value(source)
                case .eventParameter(let name): all[place].rule = .eventParameter(.fixed(.string(name)))
                case .unknown(let what): throw unknown(variable.node, "is \(what)", variable.name)
                case nil: break
                }
            }
        }

        private func unknown(_ node: YAMLNode, _ reason: String, _ name: Name) -> TagExportError {
            .unplayable(
                node, "\(reason): only the app knows its value",
                remedy: "Give the value: --variable \"\(name.text.shown)=…\", or `variables`.")
        }

        private mutating func fill(_ place: Int, _ object: ExportObject) throws(TagExportError) {
            let name = declared[place].name
            let parameters = try object.parameters()
            let type = try object.text("type") ?? ""
            all[place].format = try format(object)
            switch type {
            case "c": all[place].rule = .value(try source(parameters["value"], object))
            case "e": all[place].rule = .value(.eventName)
            case "md":
                all[place].rule = .eventParameter(try eventParameter(parameters, object))
                all[place].otherwise = try otherwise(parameters)
            case "fup":
                all[place].rule = .nothing
                all[place].otherwise = try otherwise(parameters)
            case "smm", "remm":
                let input = try source(parameters["input"], object)
                all[place].rule = .table(input: input, try rows(parameters, type == "remm", object))
                all[place].otherwise = try otherwise(parameters)
            case "cid", "ctv", "p":
                let value = type == "cid" ? facts.publicID : type == "ctv" ? facts.version : facts.platform
                guard let value else { throw unknown(object.node, "is a fact of the container", name) }
                all[place].rule = .value(.fixed(.string(value)))
            case "funcm": throw unknown(object.node, "is a function call", name)
            default:
                let shown = type.shown
                throw unknown(object.node, "has the type `\(shown)`", name)
            }
        }

        /// Reads the source that the value of `parameter` names.
        private mutating func source(
            _ parameter: ExportObject?, _ owner: ExportObject
        ) throws(TagExportError) -> TagValueSource {
            guard let parameter else {
                throw .wrong(owner.node, "lacks a parameter")
            }
            let text = try parameter.text("value") ?? ""
            return try TagTemplate(text).source { (name) throws(TagExportError) in
                guard let place = places[name] else { throw missing(name, parameter.node, places) }
                do throws(TagExportError) { try read(place, from: parameter.node) } catch {
                    guard error.isUnplayable else { throw error }
                    throw using(name, error, parameter.node)
                }
                return .variable(place)
            }
        }

        private mutating func eventParameter(
            _ parameters: ExportParameters, _ object: ExportObject
        ) throws(TagExportError) -> TagValueSource {
            if parameters["key"] != nil { return try source(parameters["key"], object) }
            // A suggested parameter is in the one whose key is called after the event.
            for parameter in parameters.all {
                let key = try parameter.text("key") ?? ""
                if key.hasPrefix("firebase"), key.hasSuffix("Param") { return try source(parameter, object) }
            }
            throw .wrong(object.node, "names no parameter of the event", remedy: "Add the parameter `key`.")
        }

        private mutating func otherwise(
            _ parameters: ExportParameters
        ) throws(TagExportError) -> TagValueSource? {
            let isSet =
                parameters["setDefaultValue"] == nil
                ? parameters["defaultValue"] != nil : try parameters.flag("setDefaultValue")
            guard isSet, let value = parameters["defaultValue"] else { return nil }
            return try source(value, value)
        }

        private mutating func rows(
            _ parameters: ExportParameters, _ isPattern: Bool, _ object: ExportObject
        ) throws(TagExportError) -> [TagVariable.Row] {
            let table = try parameters["map"]?.objects("list") ?? []
            let (isFull, isAnyCase, isReplaced) = (
                try parameters.flag("fullMatch"), try parameters.flag("ignoreCase"),
                try parameters.flag("replaceAfterMatch")
            )
            var rows: [TagVariable.Row] = []
            for row in table {
                let cells = try row.parameters("map")
                let value = try source(cells["value"] ?? cells["key"], row)
                guard isPattern else {
                    rows.append(.init(.equals(try source(cells["key"], row)), value))
                    continue
                }
                guard case .fixed(.string(let text)) = try source(cells["key"], row) else {
                    throw .unplayable(row.node, ExportPattern.varies, remedy: ExportPattern.writeItOut)
                }
                if isReplaced, case .fixed(.string(let result)) = value, result.contains("$") {
                    throw .unplayable(row.node, "uses groups of its pattern (`$1`)", remedy: "Write the result out.")
                }
                let test = try ExportPattern.test(text, isAnyCase: isAnyCase, isFull: isFull, row.node)
                if case .matches(_, let pattern) = test { patternSteps += pattern.steps }
                guard patternSteps <= maxPatternSteps else { throw ExportPattern.tooMany(row.node) }
                rows.append(.init(test, value))
            }
            return rows
        }

        private mutating func format(
            _ object: ExportObject
        ) throws(TagExportError) -> TagVariable.Format {
            var format = TagVariable.Format()
            guard let node = object["formatValue"] else { return format }
            let rules = try ExportObject(node)
            switch try rules.text("caseConversionType") {
            case let word? where word.lowercased() == "lowercase": format.isLowercased = true
            case let word? where word.lowercased() == "uppercase": format.isLowercased = false
            default: break
            }
            let keys: [(String, WritableKeyPath<TagVariable.Format, TagValueSource?>)] = [
                ("convertNullToValue", \.ofNull), ("convertUndefinedToValue", \.ofUndefined),
                ("convertTrueToValue", \.ofTrue), ("convertFalseToValue", \.ofFalse),
            ]
            for (key, path) in keys {
                guard let node = rules[key] else { continue }
                let parameter = try ExportObject(node)
                format[keyPath: path] = try source(parameter, parameter)
            }
            return format
        }
    }
}

/// A regular expression of an export.
enum ExportPattern {
    static let varies = "has a pattern with a variable in it"
    static let writeItOut = "Write the pattern out."

    static func test(
        _ pattern: String, isAnyCase: Bool, isFull: Bool = false, _ node: YAMLNode
    ) throws(TagExportError) -> TagCondition.Test {
        let isFlagged = pattern.hasPrefix("(?i)")
        var text = isFlagged ? String(pattern.dropFirst(4)) : pattern
        if isFull { text = "^(?:\(text))$" }
        do throws(TextPattern.PatternError) {
            return .matches(pattern, try TextPattern(text, isAnyCase || isFlagged ? .anyCaseInLongText : .exact))
        } catch {
            throw .unplayable(node, "has a pattern that \(error.reason)", remedy: error.remedy)
        }
    }

    static func tooMany(_ node: YAMLNode) -> TagExportError {
        .wrong(
            node,
            "is one regular expression too many: all of them together have more than "
                + "\(ExportVariables.maxPatternSteps) steps", remedy: "Use fewer, or shorter ones.")
    }
}
