internal import Foundation

/// Countries for `country`, which may be a name where a code belongs (spec/rest-api 1.4).
enum CountryCodes {
    /// The code of ISO 3166-1 alpha-2 for a code in either case or for an English name, as Foundation has it; nil if it
    /// is neither.
    static func code(_ text: String) -> String? {
        let upper = text.uppercased()
        let name = text.lowercased().replacing("’", with: "'")
        return otherNames[name] ?? (all.contains(upper) ? upper : byName[name])
    }

    /// Names that are common, or those of the standard, and not Foundation's.
    private static let otherNames: [String: String] = [
        "usa": "US", "u.s.a.": "US", "u.s.": "US", "united states of america": "US", "the united states": "US",
        "america": "US", "uk": "GB", "u.k.": "GB", "great britain": "GB", "britain": "GB", "england": "GB",
        "scotland": "GB", "wales": "GB", "northern ireland": "GB",
        "united kingdom of great britain and northern ireland": "GB", "republic of ireland": "IE",
        "czech republic": "CZ", "holland": "NL", "the netherlands": "NL", "turkey": "TR", "türkiye": "TR",
        "turkiye": "TR", "korea": "KR", "south korea": "KR", "republic of korea": "KR", "korea, republic of": "KR",
        "north korea": "KP", "democratic people's republic of korea": "KP", "russia": "RU",
        "russian federation": "RU", "vietnam": "VN", "viet nam": "VN", "uae": "AE", "hong kong": "HK", "macau": "MO",
        "macao": "MO", "taiwan": "TW", "ivory coast": "CI", "cote d'ivoire": "CI", "côte d'ivoire": "CI",
        "burma": "MM", "myanmar": "MM", "macedonia": "MK", "north macedonia": "MK", "swaziland": "SZ",
        "eswatini": "SZ", "cape verde": "CV", "cabo verde": "CV", "federal republic of germany": "DE",
        "french republic": "FR", "people's republic of china": "CN", "republic of china": "TW",
        "islamic republic of iran": "IR", "iran, islamic republic of": "IR", "syrian arab republic": "SY",
        "lao people's democratic republic": "LA", "plurinational state of bolivia": "BO",
        "bolivarian republic of venezuela": "VE", "united republic of tanzania": "TZ", "republic of moldova": "MD",
        "brunei darussalam": "BN", "state of palestine": "PS", "palestine": "PS", "holy see": "VA", "vatican": "VA",
        "bosnia": "BA", "bosnia and herzegovina": "BA", "east timor": "TL", "timor leste": "TL", "the gambia": "GM",
        "the bahamas": "BS", "the philippines": "PH", "democratic republic of the congo": "CD", "dr congo": "CD",
        "republic of the congo": "CG", "slovak republic": "SK", "trinidad and tobago": "TT",
        "trinidad": "TT", "antigua and barbuda": "AG", "saint kitts and nevis": "KN", "saint lucia": "LC",
        "saint vincent and the grenadines": "VC", "sao tome and principe": "ST", "curacao": "CW", "reunion": "RE",
        "aland islands": "AX", "saint barthelemy": "BL", "falkland islands": "FK",
    ]

    /// The 249 codes that are officially assigned. Foundation has more: of groups of countries, of parts, and of those
    /// that no standard knows.
    private static let all: Set<String> = Set(
        """
        AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY \
        BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK \
        FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR \
        IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK \
        ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM \
        PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF \
        TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
        """.split(separator: " ").map(String.init))

    private static let byName: [String: String] = {
        let english = Locale(identifier: "en_US")
        let names = all.sorted().compactMap { code in
            english.localizedString(forRegionCode: code).map { ($0.lowercased().replacing("’", with: "'"), code) }
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }()
}
