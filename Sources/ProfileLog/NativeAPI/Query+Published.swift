internal import ProfileLogRequests

/// The parameters of a what-if: which faults, and what no history says.
extension Query {
    /// `policy`, `fault` (several, or one with commas) and the conditions.
    mutating func publishedPolicy() throws -> PublishedPolicy {
        let name = try text("policy") ?? "faithful"
        let named = Self.faultWords(all("fault"))
        let conditions = try publishedConditions()
        switch name {
        case "faithful" where named.isEmpty: return .faithful(conditions)
        case "faithful": return PublishedPolicy(try Self.faults(named, conditions), conditions)
        case "standard" where named.isEmpty: return PublishedPolicy([], conditions)
        case "standard":
            throw APIProblem.invalid(
                "fault", "needs the policy faithful", remedy: "Leave out the policy: faithful is the default.")
        default: throw APIProblem.invalid("policy", "must be faithful or standard")
        }
    }

    /// The words of `fault`: several, or one with commas.
    static func faultWords(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",").map(String.init) }
    }

    private static func faults(_ named: [String], _ conditions: PublishedConditions) throws -> Set<Fault> {
        let newest = named.contains("newest") ? PublishedPolicy.faithful(conditions).faults : []
        return try faultsByNumber(named).union(newest)
    }

    /// The faults that are asked for as such, or as all of them.
    static func faultsByNumber(_ named: [String]) throws -> Set<Fault> {
        var faults: Set<Fault> = []
        for name in named where name != "newest" {
            if name == "all" { faults.formUnion(Fault.allCases) } else { faults.insert(try fault(name)) }
        }
        return faults
    }

    private static func fault(_ name: String) throws -> Fault {
        guard let number = Int(name), Fault.numbers.contains(number) else {
            let (first, last) = (Fault.numbers.lowerBound, Fault.numbers.upperBound)
            throw APIProblem.invalid("fault", "must be a number from \(first) to \(last), newest or all")
        }
        if let fault = Fault(rawValue: number) { return fault }
        let numbers = Fault.allCases.map { "\($0.number)" }.joined(separator: ", ")
        throw APIProblem.invalid(
            "fault", "cannot be \(number): \(Fault.whyNotSimulated(number) ?? "it changes no item")",
            remedy: "These can be switched on: \(numbers).")
    }

    private mutating func publishedConditions() throws -> PublishedConditions {
        var conditions = PublishedConditions()
        try languages(into: &conditions)
        conditions.numbers = try choice("numbers", PlistNumbers.allCases) ?? conditions.numbers
        conditions.saveLasts = try milliseconds("save_ms") ?? conditions.saveLasts
        conditions.flushLasts = try milliseconds("flush_ms") ?? conditions.flushLasts
        conditions.flushesPerCrash = try count("crash_every", standard: conditions.flushesPerCrash)
        conditions.itemsBeforeCrash = try optionalCount("crash_after")
        conditions.itemsUnstored = try count("unstored", standard: conditions.itemsUnstored)
        conditions.scenes = try count("scenes", standard: conditions.scenes, most: 10)
        conditions.launchesPerUpdate = try count("update_every", standard: conditions.launchesPerUpdate)
        conditions.savesPerLockedSave = try count("locked_every", standard: conditions.savesPerLockedSave)
        conditions.instanceMissingUntil = try time("instance_missing_until")
        if let text = try text("sdk") {
            guard let version = SDKVersion(text) else {
                throw APIProblem.invalid("sdk", "must be a version, as in \(conditions.sdk)")
            }
            conditions.sdk = version
        }
        conditions.isSDKDisabled = try flag("sdk_disabled")
        conditions.blocklist = Set(all("blocklist").map { Name($0) })
        conditions.strayProcesses = Set(all("stray").map { Name($0) })
        return conditions
    }

    /// `language=objc` for every process, `language=app=swift` for one.
    private mutating func languages(into conditions: inout PublishedConditions) throws {
        for text in all("language") {
            let place = text.lastIndex(of: "=")
            let word = place.map { text[text.index(after: $0)...] } ?? text[...]
            guard let language = SnippetLanguage(rawValue: String(word)) else {
                throw APIProblem.invalid("language", "must be swift or objc, or PROCESS=swift, or PROCESS=objc")
            }
            if let place {
                conditions.languages[Name(String(text[..<place]))] = language
            } else {
                conditions.language = language
            }
        }
    }

    // MARK: - Kinds of parameters

    private mutating func choice<Choice: RawRepresentable<String>>(_ name: String, _ all: [Choice]) throws -> Choice? {
        guard let text = try text(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            throw APIProblem.invalid(name, "must be \(all.map(\.rawValue).joined(separator: " or "))")
        }
        return choice
    }

    private mutating func count(_ name: String, standard: Int, most: UInt64 = 1_000_000) throws -> Int {
        Int(try number(name, 1...most, standard: UInt64(standard)))
    }

    private mutating func optionalCount(_ name: String) throws -> Int? {
        let count = try number(name, 0...1_000_000, standard: .max)
        return count == .max ? nil : Int(count)
    }

    private mutating func milliseconds(_ name: String) throws -> Duration? {
        let day: UInt64 = 86_400_000
        let count = try number(name, 0...day, standard: .max)
        return count == .max ? nil : .milliseconds(count)
    }
}
