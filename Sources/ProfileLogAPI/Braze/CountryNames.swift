/// Countries by their English names: for `country`, which may be a name where a code belongs (spec/rest-api 1.4).
enum CountryNames {
    /// The code of ISO 3166-1 alpha-2 for a code in either case or for an English name; nil if it is neither.
    static func code(_ text: String) -> String? {
        let upper = text.uppercased()
        return codes.contains(upper) ? upper : byName[text.lowercased()]
    }

    private static let byName: [String: String] = Dictionary(
        list.split(separator: "\n").map { (String($0.dropFirst(3)).lowercased(), String($0.prefix(2))) },
        uniquingKeysWith: { first, _ in first })
    private static let codes = Set(byName.values)

    /// A code and a name a line: the names of ISO 3166-1, and those in common use.
    private static let list = """
        AD Andorra
        AD Principality of Andorra
        AE United Arab Emirates
        AF Afghanistan
        AF Islamic Republic of Afghanistan
        AG Antigua and Barbuda
        AI Anguilla
        AL Albania
        AL Republic of Albania
        AM Armenia
        AM Republic of Armenia
        AO Angola
        AO Republic of Angola
        AQ Antarctica
        AR Argentina
        AR Argentine Republic
        AS American Samoa
        AT Austria
        AT Republic of Austria
        AU Australia
        AW Aruba
        AX Åland Islands
        AZ Azerbaijan
        AZ Republic of Azerbaijan
        BA Bosnia and Herzegovina
        BA Republic of Bosnia and Herzegovina
        BB Barbados
        BD Bangladesh
        BD People's Republic of Bangladesh
        BE Belgium
        BE Kingdom of Belgium
        BF Burkina Faso
        BG Bulgaria
        BG Republic of Bulgaria
        BH Bahrain
        BH Kingdom of Bahrain
        BI Burundi
        BI Republic of Burundi
        BJ Benin
        BJ Republic of Benin
        BL Saint Barthélemy
        BM Bermuda
        BN Brunei
        BN Brunei Darussalam
        BO Bolivia
        BO Bolivia, Plurinational State of
        BO Plurinational State of Bolivia
        BQ Bonaire
        BQ Bonaire, Sint Eustatius and Saba
        BR Brazil
        BR Federative Republic of Brazil
        BS Bahamas
        BS Commonwealth of the Bahamas
        BT Bhutan
        BT Kingdom of Bhutan
        BV Bouvet Island
        BW Botswana
        BW Republic of Botswana
        BY Belarus
        BY Republic of Belarus
        BZ Belize
        CA Canada
        CC Cocos (Keeling) Islands
        CD Congo, The Democratic Republic of the
        CF Central African Republic
        CG Congo
        CG Republic of the Congo
        CH Swiss Confederation
        CH Switzerland
        CI Côte d'Ivoire
        CI Ivory Coast
        CI Republic of Côte d'Ivoire
        CK Cook Islands
        CL Chile
        CL Republic of Chile
        CM Cameroon
        CM Republic of Cameroon
        CN China
        CN People's Republic of China
        CO Colombia
        CO Republic of Colombia
        CR Costa Rica
        CR Republic of Costa Rica
        CU Cuba
        CU Republic of Cuba
        CV Cabo Verde
        CV Cape Verde
        CV Republic of Cabo Verde
        CW Curaçao
        CX Christmas Island
        CY Cyprus
        CY Republic of Cyprus
        CZ Czech Republic
        CZ Czechia
        DE Federal Republic of Germany
        DE Germany
        DJ Djibouti
        DJ Republic of Djibouti
        DK Denmark
        DK Kingdom of Denmark
        DM Commonwealth of Dominica
        DM Dominica
        DO Dominican Republic
        DZ Algeria
        DZ People's Democratic Republic of Algeria
        EC Ecuador
        EC Republic of Ecuador
        EE Estonia
        EE Republic of Estonia
        EG Arab Republic of Egypt
        EG Egypt
        EH Western Sahara
        ER Eritrea
        ER the State of Eritrea
        ES Kingdom of Spain
        ES Spain
        ET Ethiopia
        ET Federal Democratic Republic of Ethiopia
        FI Finland
        FI Republic of Finland
        FJ Fiji
        FJ Republic of Fiji
        FK Falkland Islands (Malvinas)
        FM Federated States of Micronesia
        FM Micronesia
        FM Micronesia, Federated States of
        FO Faroe Islands
        FR France
        FR French Republic
        GA Gabon
        GA Gabonese Republic
        GB Great Britain
        GB UK
        GB United Kingdom
        GB United Kingdom of Great Britain and Northern Ireland
        GD Grenada
        GE Georgia
        GF French Guiana
        GG Guernsey
        GH Ghana
        GH Republic of Ghana
        GI Gibraltar
        GL Greenland
        GM Gambia
        GM Republic of the Gambia
        GN Guinea
        GN Republic of Guinea
        GP Guadeloupe
        GQ Equatorial Guinea
        GQ Republic of Equatorial Guinea
        GR Greece
        GR Hellenic Republic
        GS South Georgia and the South Sandwich Islands
        GT Guatemala
        GT Republic of Guatemala
        GU Guam
        GW Guinea-Bissau
        GW Republic of Guinea-Bissau
        GY Guyana
        GY Republic of Guyana
        HK Hong Kong
        HK Hong Kong Special Administrative Region of China
        HM Heard Island and McDonald Islands
        HN Honduras
        HN Republic of Honduras
        HR Croatia
        HR Republic of Croatia
        HT Haiti
        HT Republic of Haiti
        HU Hungary
        ID Indonesia
        ID Republic of Indonesia
        IE Ireland
        IL Israel
        IL State of Israel
        IM Isle of Man
        IN India
        IN Republic of India
        IO British Indian Ocean Territory
        IQ Iraq
        IQ Republic of Iraq
        IR Iran
        IR Iran, Islamic Republic of
        IR Islamic Republic of Iran
        IS Iceland
        IS Republic of Iceland
        IT Italian Republic
        IT Italy
        JE Jersey
        JM Jamaica
        JO Hashemite Kingdom of Jordan
        JO Jordan
        JP Japan
        KE Kenya
        KE Republic of Kenya
        KG Kyrgyz Republic
        KG Kyrgyzstan
        KH Cambodia
        KH Kingdom of Cambodia
        KI Kiribati
        KI Republic of Kiribati
        KM Comoros
        KM Union of the Comoros
        KN Saint Kitts and Nevis
        KP Democratic People's Republic of Korea
        KP Korea, Democratic People's Republic of
        KP North Korea
        KR Korea, Republic of
        KR South Korea
        KW Kuwait
        KW State of Kuwait
        KY Cayman Islands
        KZ Kazakhstan
        KZ Republic of Kazakhstan
        LA Lao People's Democratic Republic
        LA Laos
        LB Lebanese Republic
        LB Lebanon
        LC Saint Lucia
        LI Liechtenstein
        LI Principality of Liechtenstein
        LK Democratic Socialist Republic of Sri Lanka
        LK Sri Lanka
        LR Liberia
        LR Republic of Liberia
        LS Kingdom of Lesotho
        LS Lesotho
        LT Lithuania
        LT Republic of Lithuania
        LU Grand Duchy of Luxembourg
        LU Luxembourg
        LV Latvia
        LV Republic of Latvia
        LY Libya
        MA Kingdom of Morocco
        MA Morocco
        MC Monaco
        MC Principality of Monaco
        MD Moldova
        MD Moldova, Republic of
        MD Republic of Moldova
        ME Montenegro
        MF Saint Martin (French part)
        MG Madagascar
        MG Republic of Madagascar
        MH Marshall Islands
        MH Republic of the Marshall Islands
        MK Macedonia
        MK North Macedonia
        MK Republic of North Macedonia
        ML Mali
        ML Republic of Mali
        MM Myanmar
        MM Republic of Myanmar
        MN Mongolia
        MO Macao
        MO Macao Special Administrative Region of China
        MO Macau
        MP Commonwealth of the Northern Mariana Islands
        MP Northern Mariana Islands
        MQ Martinique
        MR Islamic Republic of Mauritania
        MR Mauritania
        MS Montserrat
        MT Malta
        MT Republic of Malta
        MU Mauritius
        MU Republic of Mauritius
        MV Maldives
        MV Republic of Maldives
        MW Malawi
        MW Republic of Malawi
        MX Mexico
        MX United Mexican States
        MY Malaysia
        MZ Mozambique
        MZ Republic of Mozambique
        NA Namibia
        NA Republic of Namibia
        NC New Caledonia
        NE Niger
        NE Republic of the Niger
        NF Norfolk Island
        NG Federal Republic of Nigeria
        NG Nigeria
        NI Nicaragua
        NI Republic of Nicaragua
        NL Kingdom of the Netherlands
        NL Netherlands
        NL The Netherlands
        NO Kingdom of Norway
        NO Norway
        NP Federal Democratic Republic of Nepal
        NP Nepal
        NR Nauru
        NR Republic of Nauru
        NU Niue
        NZ New Zealand
        OM Oman
        OM Sultanate of Oman
        PA Panama
        PA Republic of Panama
        PE Peru
        PE Republic of Peru
        PF French Polynesia
        PG Independent State of Papua New Guinea
        PG Papua New Guinea
        PH Philippines
        PH Republic of the Philippines
        PK Islamic Republic of Pakistan
        PK Pakistan
        PL Poland
        PL Republic of Poland
        PM Saint Pierre and Miquelon
        PN Pitcairn
        PR Puerto Rico
        PS Palestine
        PS Palestine, State of
        PS the State of Palestine
        PT Portugal
        PT Portuguese Republic
        PW Palau
        PW Republic of Palau
        PY Paraguay
        PY Republic of Paraguay
        QA Qatar
        QA State of Qatar
        RE Réunion
        RO Romania
        RS Republic of Serbia
        RS Serbia
        RU Russia
        RU Russian Federation
        RW Rwanda
        RW Rwandese Republic
        SA Kingdom of Saudi Arabia
        SA Saudi Arabia
        SB Solomon Islands
        SC Republic of Seychelles
        SC Seychelles
        SD Republic of the Sudan
        SD Sudan
        SE Kingdom of Sweden
        SE Sweden
        SG Republic of Singapore
        SG Singapore
        SH Saint Helena
        SH Saint Helena, Ascension and Tristan da Cunha
        SI Republic of Slovenia
        SI Slovenia
        SJ Svalbard and Jan Mayen
        SK Slovak Republic
        SK Slovakia
        SL Republic of Sierra Leone
        SL Sierra Leone
        SM Republic of San Marino
        SM San Marino
        SN Republic of Senegal
        SN Senegal
        SO Federal Republic of Somalia
        SO Somalia
        SR Republic of Suriname
        SR Suriname
        SS Republic of South Sudan
        SS South Sudan
        ST Democratic Republic of Sao Tome and Principe
        ST Sao Tome and Principe
        SV El Salvador
        SV Republic of El Salvador
        SX Sint Maarten (Dutch part)
        SY Syria
        SY Syrian Arab Republic
        SZ Eswatini
        SZ Kingdom of Eswatini
        SZ Swaziland
        TC Turks and Caicos Islands
        TD Chad
        TD Republic of Chad
        TF French Southern Territories
        TG Togo
        TG Togolese Republic
        TH Kingdom of Thailand
        TH Thailand
        TJ Republic of Tajikistan
        TJ Tajikistan
        TK Tokelau
        TL Democratic Republic of Timor-Leste
        TL Timor-Leste
        TM Turkmenistan
        TN Republic of Tunisia
        TN Tunisia
        TO Kingdom of Tonga
        TO Tonga
        TR Republic of Türkiye
        TR Turkey
        TR Türkiye
        TT Republic of Trinidad and Tobago
        TT Trinidad and Tobago
        TV Tuvalu
        TW Taiwan
        TW Taiwan, Province of China
        TZ Tanzania
        TZ Tanzania, United Republic of
        TZ United Republic of Tanzania
        UA Ukraine
        UG Republic of Uganda
        UG Uganda
        UM United States Minor Outlying Islands
        US USA
        US United States
        US United States of America
        UY Eastern Republic of Uruguay
        UY Uruguay
        UZ Republic of Uzbekistan
        UZ Uzbekistan
        VA Holy See (Vatican City State)
        VA Vatican City
        VC Saint Vincent and the Grenadines
        VE Bolivarian Republic of Venezuela
        VE Venezuela
        VE Venezuela, Bolivarian Republic of
        VG British Virgin Islands
        VG Virgin Islands, British
        VI Virgin Islands of the United States
        VI Virgin Islands, U.S.
        VN Socialist Republic of Viet Nam
        VN Viet Nam
        VN Vietnam
        VU Republic of Vanuatu
        VU Vanuatu
        WF Wallis and Futuna
        WS Independent State of Samoa
        WS Samoa
        YE Republic of Yemen
        YE Yemen
        YT Mayotte
        ZA Republic of South Africa
        ZA South Africa
        ZM Republic of Zambia
        ZM Zambia
        ZW Republic of Zimbabwe
        ZW Zimbabwe
        """
}
