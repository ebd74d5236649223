internal import Foundation

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
        CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel
        Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey
        UCT Universal W-SU WET Zulu
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
