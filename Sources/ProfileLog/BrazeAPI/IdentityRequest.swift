internal import ProfileLogRequests

/// The body of a request that changes IDs of users: one list or several, of objects.
struct IdentityRequest {
    /// The valid objects.
    private(set) var items: [IdentityItem] = []
    /// The others: what is wrong, and where.
    private(set) var errors: [(type: String, array: String, index: Int)] = []
    private let lists: [Name]
    /// Members that are not known, and those that were perhaps meant.
    private let misspelt: [Misspelling]

    /// Items in one list (spec/rest-api 2.3, 2.4).
    static let mostItems = 50

    /// Reads `lists` in this order, each object by `read`.
    init(
        _ request: APIRequest, _ lists: [Name],
        _ read: (AttributeValue, Name) throws(TrackError) -> IdentityItem.Change
    ) throws {
        self.lists = lists
        try request.refuseIfMatch()
        let body = try BodyObject.read(request.body)
        misspelt = request.misspelt(in: body)
        for list in lists {
            for (index, value) in try Self.objects(body, list).enumerated() {
                do throws(TrackError) {
                    guard case .object = value else { throw .object("must be an object") }
                    items.append(IdentityItem(change: try read(value, list), array: list.text, index: index))
                } catch .object(let type, _), .field(let type) {
                    errors.append((type, list.text, index))
                }
            }
        }
        guard !items.isEmpty || !errors.isEmpty else {
            throw APIError(
                status: 400, code: "nothing_valid", error: nothingValid, remedy: "Send at least one object.")
        }
    }

    private static func objects(_ body: AttributeValue, _ list: Name) throws -> [AttributeValue] {
        let values = try body.array(list, of: " of objects") ?? []
        guard values.count <= mostItems else {
            throw APIError.tooMany(
                "'\(list.text)' has \(values.count) objects", most: mostItems, place: list.text)
        }
        return values
    }

    /// The words of a track request without a usable object.
    private var nothingValid: String {
        let names = lists.map { "'\($0.text)'" }
        guard let last = names.last, names.count > 1 else {
            return "Valid data must be provided in the \(names.joined()) field."
        }
        return "Valid data must be provided in the \(names.dropLast().joined(separator: ", ")), or \(last) fields."
    }

    /// 201 with `aliases_processed`, the number of valid ones; or 400 if none was. `reasons` are those of `items`.
    func answer(_ reasons: [String?]) -> APIAnswer {
        let body = JSONWriter.bytes { json in
            if !items.isEmpty { json.member("aliases_processed", items.count) }
            json.member("message", items.isEmpty ? nothingValid : "success")
            if !errors.isEmpty {
                json.array("errors", errors) { $0.place("type", $1.type, $1.array, $1.index) }
            }
            json.dropped(items, reasons, misspelt)
            json.notes(
                zip(items, reasons).compactMap { item, reason in
                    reason == nil ? item.change.doubt.map { ($0, item.array, item.index) } : nil
                })
        }
        return APIAnswer(
            status: items.isEmpty ? 400 : 201, body: body, code: items.isEmpty ? "nothing_valid" : nil)
    }
}

extension JSONWriter {
    /// `notes`: changes that are likely to be mistakes; missing if there is nothing.
    mutating func notes(_ notes: [(reason: String, array: String, index: Int)]) {
        if notes.isEmpty { return }
        array("notes", notes) { $0.place("reason", $1.reason, $1.array, $1.index) }
    }

    /// `dropped`: the items about which nothing was done, and misspelt members.
    mutating func dropped(_ items: [IdentityItem], _ reasons: [String?], _ misspelt: [Misspelling] = []) {
        dropped(
            zip(items, reasons).compactMap { item, reason in reason.map { ($0, item.array, item.index) } }, misspelt)
    }
}
