extension WorkloadGenerator {
    /// The words of an imagined cooking app's events. All are written as JSON string content.
    enum Words {
        static let events: [StaticString] = [
            "cooked recipe", "saved recipe", "printed recipe", "scaled recipe", "reviewed recipe", "photographed dish",
            "opened cookbook", "closed cookbook", "browsed season", "searched ingredient", "scanned barcode",
            "planned meal", "moved meal", "skipped meal", "planned week", "copied week", "made shopping list",
            "shared shopping list", "ticked off item", "chose delivery slot", "changed delivery slot", "placed order",
            "cancelled order", "received order", "reported missing item", "tipped courier", "bought gift box",
            "started timer", "stopped timer", "finished step", "repeated step", "asked assistant", "watched lesson",
            "finished lesson", "joined class", "left class", "earned apron", "lost streak", "invited neighbour",
            "answered poll", "muted channel", "tapped hint", "dismissed hint", "opened newsletter", "opened reminder",
            "changed portion size", "connected oven", "disconnected oven", "paused membership", "resumed membership",
        ]

        static let properties: [(StaticString, Shape)] = [
            ("recipe_code", .code), ("cuisine", .phrase), ("minutes", .below(240)), ("vegetarian", .flag),
            ("note", .sentence), ("total", .amount), ("order_token", .uuid), ("servings", .below(12)),
            ("shelf", .phrase), ("opened_from", .link), ("appliance", .phrase), ("sold_out", .flag),
            ("basket_token", .uuid), ("step", .below(24)), ("lot_code", .code), ("question", .sentence),
            ("stars", .below(6)), ("first_time", .flag), ("weight_kg", .amount), ("teacher", .phrase), ("image", .link),
            ("variant_name", .phrase), ("visit_token", .uuid), ("tip", .amount),
        ]

        static let customAttributes: [(StaticString, Shape)] = [
            ("diet", .phrase), ("household_size", .below(9)), ("spice_level", .below(6)), ("allergic_to_nuts", .flag),
            ("favorite_dish", .sentence), ("monthly_budget", .amount), ("kitchen_token", .uuid), ("avatar", .link),
            ("membership", .phrase), ("membership_code", .code), ("recipes_saved", .below(5000)),
            ("recipes_cooked", .below(5000)), ("owns_oven", .flag), ("owns_grill", .flag),
            ("last_basket_value", .amount), ("last_cookbook", .phrase), ("about_me", .sentence), ("home_shop", .phrase),
            ("delivery_zone", .code), ("courier_notes", .sentence), ("cooking_days", .below(366)),
            ("longest_streak", .below(200)), ("skill", .phrase), ("apron_color", .phrase), ("wants_newsletter", .flag),
            ("prefers_metric", .flag), ("average_rating", .amount), ("invited_by", .code), ("gift_balance", .amount),
            ("sync_token", .uuid), ("experiment_arm", .phrase), ("terms_version", .below(30)),
            ("pantry_items", .below(300)), ("waste_saved_kg", .amount), ("dark_mode", .flag),
            ("lesson_topic", .sentence), ("profile_page", .link), ("breakfast_habit", .phrase),
            ("shops_per_month", .below(40)), ("last_voucher", .code),
        ]

        static let userAttributes: [(StaticString, Shape)] = [
            ("email", .email), ("phone", .phone), ("dob", .birthday),
            ("first_name", .oneOf(["Ada", "Björn", "Chloé", "Dmitri", "Eleni", "Farid", "Grażyna", "Haruto"])),
            (
                "last_name",
                .oneOf(["Okafor", "Lindqvist", "Nguyễn", "Peña", "Schäfer", "Tanaka", "Usman", "Whitfield"])
            ),
            ("country", .oneOf(["NL", "PT", "CA", "KR", "ZA"])),
            ("language", .oneOf(["nl", "pt", "fr", "ko", "en"])),
            ("home_city", .oneOf(["Utrecht", "Évora", "Montréal", "Busan", "Durban", "Tromsø"])),
            ("gender", .oneOf(["F", "M", "N", "O", "P"])),
            ("time_zone", .oneOf(["Europe/Amsterdam", "Europe/Lisbon", "America/Toronto", "Asia/Seoul"])),
        ]

        /// 32 of them, some with letters beyond ASCII and one with an escape.
        static let phrases: [StaticString] = [
            "roast pumpkin", "lentil soup", "sourdough", "miso ramen", "pad thai", "crème brûlée", "jalapeño corn",
            "smørrebrød", "green curry", "apple crumble", "quick lunch", "slow sunday", "one pot", "picnic",
            "leftovers", "cast iron", "steam oven", "hand mixer", "wok", "greengrocer", "fish counter", "night market",
            "spring onions", "wild garlic", "\\\"secret\\\" sauce", "beginner", "home cook", "pâtisserie", "gözleme",
            "harvest box", "family plan", "solo plan",
        ]
    }
}
