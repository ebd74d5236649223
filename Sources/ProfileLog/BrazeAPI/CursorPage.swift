internal import ProfileLogRequests

/// Which part of a list of names a request asks for, and where the parts before and after it are.
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
                throw APIProblem.invalid(
                    "cursor", "is none", remedy: "Take it from the header Link of an answer, or leave it out.")
            }
            begin = names.partitioningIndex { $0 > name }
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

extension [Name] {
    /// The first index whose name meets `isBehind`, which is false up to it and true from it on.
    fileprivate func partitioningIndex(_ isBehind: (Name) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
