internal import Foundation

/// The query of a URL as forms write it: `name=value&…`, with `%XX` for a byte and `+` for a space.
enum QueryText {
    /// The parameters in their order; nil if an escape is broken or a text is no UTF-8.
    static func parameters(_ query: String) -> [(name: String, value: String)]? {
        var parameters: [(name: String, value: String)] = []
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
                $0.replacing("+", with: " ").removingPercentEncoding
            }
            guard let name = sides[0], let value = sides.count == 2 ? sides[1] : "" else { return nil }
            parameters.append((name, value))
        }
        return parameters
    }
}
