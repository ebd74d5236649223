internal import Foundation

/// The two-letter codes of ISO 639-1, for `language` (spec/rest-api 1.4).
enum LanguageCodes {
    static let all = Set(Locale.LanguageCode.isoLanguageCodes.map(\.identifier).filter { $0.count == 2 })
}
