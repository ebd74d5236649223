internal import ProfileLogRequests

/// The lists of names (spec/rest-api 2.9), in the order of the names' bytes. They have all that was acknowledged
/// before.
struct CatalogueEndpoints {
    let api: BrazeAPI

    func eventNames(_ request: APIRequest) throws -> APIAnswer {
        try numbered(request, "events") { $0.events.map(\.name) }
    }

    func productIDs(_ request: APIRequest) throws -> APIAnswer {
        try numbered(request, "products") { $0.products.map(\.name) }
    }

    func customEvents(_ request: APIRequest) throws -> APIAnswer {
        try linked(request, "events", \.events, name: \.name) { json, event in
            json.member("name", event.name.text)
            json.member("description", AttributeValue.null)
            json.member("included_in_analytics_report", false)
            json.status(isBlocked: api.workspace.blockedEvents.contains(event.name))
        }
    }

    func customAttributes(_ request: APIRequest) throws -> APIAnswer {
        try linked(request, "attributes", \.attributes, name: \.name) { json, attribute in
            let type = api.workspace.forcedTypes[attribute.name] ?? attribute.firstType
            let isArray = type == .array || type == .objectArray
            json.member("array_length", isArray ? AttributeValue.int(Int64(attribute.longestArray)) : .null)
            json.member("data_type", type.name)
            json.member("description", AttributeValue.null)
            json.member("name", attribute.name.text)
            json.status(isBlocked: api.workspace.blockedAttributes.contains(attribute.name))
        }
    }

    // MARK: - Pages

    private static let namesPerPage = 250

    /// A page of names by its number, from 0.
    private func numbered(
        _ request: APIRequest, _ key: String, _ names: (CatalogueView) -> [Name]
    ) throws -> APIAnswer {
        var query = Query(request)
        let page = Int(try query.number(.page))
        let names = names(try catalogueView())
        let begin = min(page * Self.namesPerPage, names.count)
        let note = ListNote(key == "events" ? "custom events" : key, request)
        return try APIAnswer.ok { json in
            json.array(key, names[begin..<min(begin + Self.namesPerPage, names.count)]) { $0.value($1.text) }
            json.member("message", "success")
            try json.note(note, isEmpty: begin == names.count, in: api.log.reader)
        }
    }

    /// A page of `list` by the request's cursor, with links to the pages before and after it.
    private func linked<Element>(
        _ request: APIRequest, _ key: String, _ list: (CatalogueView) -> [Element], name: (Element) -> Name,
        _ write: (inout JSONWriter, Element) -> Void
    ) throws -> APIAnswer {
        let elements = list(try catalogueView())
        let page = try CursorPage(request, names: elements.map(name))
        var answer = try APIAnswer.ok { json in
            json.objects(key, elements[page.range], write)
            json.member("message", "success")
            try json.note(ListNote("custom \(key)", request), isEmpty: page.range.isEmpty, in: api.log.reader)
        }
        answer.link = page.link
        return answer
    }

    private func catalogueView() throws -> CatalogueView {
        try api.catalogue.catchUp()
        return try api.catalogue.withState { api.log.reader.catalogueView($0) }
    }
}

extension JSONWriter {
    /// `status` and `tag_names`.
    fileprivate mutating func status(isBlocked: Bool) {
        member("status", isBlocked ? "Blocklisted" : "Active")
        member("tag_names", .array([]))
    }
}

/// The part of a list of names that a request asks for, with the parts before and after it.
///
/// A cursor holds the name before its page: new names do not move the page.
struct CursorPage {
    let range: Range<Int>
    /// The header `Link`; nil if the list is one page.
    let link: String?

    private static let elements = 50

    /// - Parameter names: all of them, in ascending order.
    init(_ request: APIRequest, names: [Name]) throws {
        var query = Query(request)
        var begin = 0
        if let cursor = try query.text("cursor"), !cursor.isEmpty {
            guard let name = Self.name(cursor) else {
                throw APIError.invalid(
                    "cursor", "is none", remedy: "Take it from the header Link of an answer, or leave it out.")
            }
            begin = names.firstIndex { $0 > name } ?? names.count
        }
        let end = min(begin + Self.elements, names.count)
        range = begin..<end
        var links: [String] = []
        let address = request.baseURL + request.path
        if begin > 0 {
            let before = begin - Self.elements
            let query = before > 0 ? "?cursor=\(Self.cursor(names[before - 1]))" : ""
            links.append("<\(address)\(query)>; rel=\"prev\"")
        }
        if end < names.count {
            links.append("<\(address)?cursor=\(Self.cursor(names[end - 1]))>; rel=\"next\"")
        }
        link = links.isEmpty ? nil : links.joined(separator: ", ")
    }

    /// The name's bytes in hexadecimal digits.
    private static func cursor(_ name: Name) -> String { Hexadecimal.text(name.text.utf8) }

    private static func name(_ cursor: String) -> Name? {
        Hexadecimal.bytes(cursor).flatMap { String(validating: $0, as: UTF8.self) }.map { Name($0) }
    }
}

// MARK: - The form of the answers

extension CatalogueEndpoints {
    static let events: AnswerShape = ["events": [.text]] + .success + .note
    static let products: AnswerShape = ["products": [.text]] + .success + .note

    private static let entry: AnswerShape = [
        "name": .text, "description": .orNull(.text), "status": .text, "tag_names": [.text],
    ]

    static let eventPage: AnswerShape =
        ["events": [entry + ["included_in_analytics_report": .boolean]]] + .success + .note
    static let attributePage: AnswerShape =
        ["attributes": [entry + ["array_length": .orNull(.integer), "data_type": .text]]] + .success + .note
}
