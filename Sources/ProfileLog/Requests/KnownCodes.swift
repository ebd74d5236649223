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

/// The two-letter codes of ISO 639-1, for `language` (spec/rest-api 1.4).
enum LanguageCodes {
    /// The code of ISO 639-1 in `text`, which may have a region after it (`en-US`), in either case; nil if there is
    /// none.
    static func code(_ text: String) -> String? {
        let code = text.prefix { $0 != "-" && $0 != "_" }.lowercased()
        return withdrawn[code] ?? (all.contains(code) ? code : nil)
    }

    /// Foundation calls Tagalog by the code of Filipino, which has three letters.
    private static let all = Set(
        Locale.LanguageCode.isoLanguageCodes.map(\.identifier).filter { $0.count == 2 } + ["tl"])

    /// Codes that the standard had until 1989, which Java went on writing, and those of today.
    private static let withdrawn = ["iw": "he", "in": "id", "ji": "yi"]
}

/// The names of time zones, for `time_zone`: those of the tz database, and those that Ruby on Rails has (spec/rest-api
/// 1.4).
enum TimeZoneNames {
    static func contains(_ name: String) -> Bool { rails.contains(name) || isInDatabase(name) }

    /// Foundation also takes abbreviations and distances from GMT, which are no names of the database.
    private static func isInDatabase(_ name: String) -> Bool {
        if known.contains(name) { return true }
        return name.contains("/") && TimeZone(identifier: name)?.identifier == name
    }

    private static let known = Set(
        TimeZone.knownTimeZoneIdentifiers + ["UTC"] + links.split(whereSeparator: \.isWhitespace).map(String.init))

    /// Names without a region, which the database keeps from older times.
    private static let links = """
        CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran
        Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK
        Singapore Turkey UCT Universal W-SU WET Zulu
        """

    private static let rails = Set(
        list.split(whereSeparator: { $0 == "|" || $0.isNewline }).map(String.init))

    private static let list = """
        International Date Line West|Midway Island|American Samoa|Hawaii|Alaska|Pacific Time (US & Canada)
        Tijuana|Mountain Time (US & Canada)|Arizona|Chihuahua|Mazatlan|Central Time (US & Canada)
        Saskatchewan|Guadalajara|Mexico City|Monterrey|Central America|Eastern Time (US & Canada)
        Indiana (East)|Bogota|Lima|Quito|Atlantic Time (Canada)|Caracas|La Paz|Santiago|Asuncion
        Newfoundland|Brasilia|Buenos Aires|Montevideo|Georgetown|Puerto Rico|Greenland|Mid-Atlantic|Azores
        Cape Verde Is.|Dublin|Edinburgh|Lisbon|London|Casablanca|Monrovia|UTC|Belgrade|Bratislava|Budapest
        Ljubljana|Prague|Sarajevo|Skopje|Warsaw|Zagreb|Brussels|Copenhagen|Madrid|Paris|Amsterdam|Berlin
        Bern|Zurich|Rome|Stockholm|Vienna|West Central Africa|Bucharest|Cairo|Helsinki|Kyiv|Riga|Sofia
        Tallinn|Vilnius|Athens|Istanbul|Minsk|Jerusalem|Harare|Pretoria|Kaliningrad|Moscow|St. Petersburg
        Volgograd|Samara|Kuwait|Riyadh|Nairobi|Baghdad|Tehran|Abu Dhabi|Muscat|Baku|Tbilisi|Yerevan|Kabul
        Ekaterinburg|Islamabad|Karachi|Tashkent|Chennai|Kolkata|Mumbai|New Delhi|Kathmandu|Dhaka
        Sri Jayawardenepura|Almaty|Astana|Novosibirsk|Rangoon|Bangkok|Hanoi|Jakarta|Krasnoyarsk|Beijing
        Chongqing|Hong Kong|Urumqi|Kuala Lumpur|Singapore|Taipei|Perth|Irkutsk|Ulaanbaatar|Seoul|Osaka
        Sapporo|Tokyo|Yakutsk|Darwin|Adelaide|Canberra|Melbourne|Sydney|Brisbane|Hobart|Vladivostok|Guam
        Port Moresby|Magadan|Srednekolymsk|Solomon Is.|New Caledonia|Fiji|Kamchatka|Marshall Is.|Auckland
        Wellington|Nuku'alofa|Tokelau Is.|Chatham Is.|Samoa
        """
}
