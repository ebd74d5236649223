internal import ProfileLogRequests

/// The lists of names (spec/rest-api 2.9), in the order of the names' bytes. They have all that was acknowledged
/// before.
extension BrazeAPI {
    func eventNames(_ request: APIRequest) -> APIAnswer {
        numbered(request, "events") { $0.events.map(\.name) }
    }

    func productIDs(_ request: APIRequest) -> APIAnswer {
        numbered(request, "products") { $0.products.map(\.name) }
    }

    func customEvents(_ request: APIRequest) -> APIAnswer {
        linked(request, "events", \.events, name: \.name) { json, event in
            json.key("name")
            json.value(event.name.text)
            json.key("description")
            json.null()
            json.key("included_in_analytics_report")
            json.value(false)
            json.status(isBlocked: workspace.blockedEvents.contains(event.name))
        }
    }

    func customAttributes(_ request: APIRequest) -> APIAnswer {
        linked(request, "attributes", \.attributes, name: \.name) { json, attribute in
            let type = workspace.forcedTypes[attribute.name] ?? attribute.firstType
            json.key("array_length")
            if type == .array || type == .objectArray { json.value(attribute.longestArray) } else { json.null() }
            json.key("data_type")
            json.value(type.name)
            json.key("description")
            json.null()
            json.key("name")
            json.value(attribute.name.text)
            json.status(isBlocked: workspace.blockedAttributes.contains(attribute.name))
        }
    }

    // MARK: - Pages

    private static let namesPerPage = 250

    /// A page of names by its number, from 0.
    private func numbered(
        _ request: APIRequest, _ key: String, _ names: (CatalogueView) -> [Name]
    ) -> APIAnswer {
        do {
            var query = Query(request)
            let page = Int(try query.number(.page))
            let names = names(try catalogueView())
            let begin = min(page * Self.namesPerPage, names.count)
            return APIAnswer.ok { json in
                json.key(key)
                json.array(names[begin..<min(begin + Self.namesPerPage, names.count)]) { $0.value($1.text) }
                json.member("message", "success")
            }
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// A page of `list` by the request's cursor, with links to the pages before and after it.
    private func linked<Element>(
        _ request: APIRequest, _ key: String, _ list: (CatalogueView) -> [Element], name: (Element) -> Name,
        _ write: (inout JSONWriter, Element) -> Void
    ) -> APIAnswer {
        do {
            let elements = list(try catalogueView())
            let page = try CursorPage(request, names: elements.map(name))
            var answer = APIAnswer.ok { json in
                json.key(key)
                json.array(elements[page.range]) { json, element in
                    json.beginObject()
                    write(&json, element)
                    json.endObject()
                }
                json.member("message", "success")
            }
            answer.link = page.link
            return answer
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    private func catalogueView() throws -> CatalogueView {
        try catalogue.catchUp()
        return try catalogue.withState { log.catalogueView($0) }
    }
}

extension JSONWriter {
    /// `status` and `tag_names`.
    fileprivate mutating func status(isBlocked: Bool) {
        member("status", isBlocked ? "Blocklisted" : "Active")
        key("tag_names")
        beginArray()
        endArray()
    }
}
