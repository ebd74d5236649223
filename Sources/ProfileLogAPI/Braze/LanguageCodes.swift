internal import Foundation

/// The two-letter codes of ISO 639-1, for `language` (spec/rest-api 1.4).
enum LanguageCodes {
    /// The code of ISO 639-1 in `text`, which may have a region behind it (`en-US`), in either case; nil if there is none.
    static func code(_ text: String) -> String? {
        let code = text.prefix { $0 != "-" && $0 != "_" }.lowercased()
        return all.contains(code) ? code : nil
    }

    private static let all = Set(Locale.LanguageCode.isoLanguageCodes.map(\.identifier).filter { $0.count == 2 })
}
