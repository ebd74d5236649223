internal import ProfileLogRequests

/// All endpoints of the platform's public reference, and what to use in place of those that are not simulated.
package enum BrazeReference {
    /// One method on one path of the reference.
    package struct Entry: Hashable, Sendable {
        package let method: String
        package let path: String
        /// The endpoint or command to use in its place; nil for what is simulated.
        package let instead: String?
    }

    /// Entries in the order of the reference: user data, messages, exports, lists of addresses, content, the rest.
    package static let entries: [Entry] =
        simulated("POST", under: "/users", "track", "track/bulk", "track/sync", "alias/new", "alias/update", "delete")
        + simulated("POST", under: "/users", "identify", "merge", "external_ids/rename", "external_ids/remove")
        + simulated("POST", under: "/users/export", "ids", "segment")
        + missing("POST", under: "/users/export", "global_control_group", instead: segments)
        + missing("POST", under: "/export/segment", "cancel", instead: exportIsComplete)
        + simulated("POST", under: "/messages", "send", "schedule/create", "schedule/update", "schedule/delete")
        + simulated("GET", under: "/messages", "scheduled_broadcasts")
        + missing("POST", under: "/messages/live_activity", "start", "update", instead: liveActivity)
        + ["/campaigns/trigger", "/canvas/trigger"].flatMap {
            simulated("POST", under: $0, "send", "schedule/create", "schedule/update", "schedule/delete")
        }
        + simulated("POST", under: "/transactional/v1", "campaigns/{campaign_id}/send")
        + simulated("POST", under: "/sends", "id/create")
        + missing("GET", under: "/sends", "data_series", instead: sends)
        + missing("GET", under: "/campaigns", "list", "details", instead: campaigns)
        + missing("GET", under: "/campaigns", "data_series", "url_info/details", instead: sends)
        + missing("POST", under: "/campaigns", "duplicate", instead: copies)
        + missing("GET", under: "/canvas", "list", "details", instead: campaigns)
        + missing("GET", under: "/canvas", "data_series", "data_summary", "url_info/details", instead: sends)
        + missing("POST", under: "/canvas", "duplicate", instead: copies)
        + simulated("GET", under: "", "events", "events/list", "events/data_series", "custom_attributes")
        + simulated("GET", under: "/purchases", "product_list", "quantity_series", "revenue_series")
        + simulated("GET", under: "/sessions", "data_series")
        + ["dau", "mau", "new_users", "uninstalls"].flatMap { simulated("GET", under: "/kpi/\($0)", "data_series") }
        + simulated("GET", under: "/segments", "list", "details", "data_series")
        + missing("GET", under: "/feed", "list", "details", "data_series", instead: feed)
        + simulated("POST", under: "", "subscription/status/set", "v2/subscription/status/set")
        + simulated("GET", under: "/subscription", "status/get", "user/status")
        + missing("POST", under: "/email", "status", "blocklist", "blacklist", instead: emailStatus)
        + missing("GET", under: "/email", "unsubscribes", instead: unsubscribes)
        + missing("GET", under: "/email", "hard_bounces", instead: nothingBounces)
        + missing("POST", under: "/email", "bounce/remove", "spam/remove", instead: nothingBounces)
        + missing("GET", under: "/sms", "invalid_phone_numbers", instead: noInvalidNumbers)
        + missing("POST", under: "/sms", "invalid_phone_numbers/remove", instead: noInvalidNumbers)
        + ["/content_blocks", "/templates/email"].flatMap { folder in
            missing("GET", under: folder, "list", "info", instead: templates)
                + missing("POST", under: folder, "create", "update", instead: templates)
        }
        + translations
        + catalogues
        + missing("GET", under: "/preference_center/v1", "list", "{preference_center_id}", instead: preferences)
        + missing(
            "GET", under: "/preference_center/v1", "{preference_center_id}/url/{user_id}", instead: preferences)
        + missing("POST", under: "/preference_center", "v1", instead: preferences)
        + missing("PUT", under: "/preference_center/v1", "{preference_center_id}", instead: preferences)
        + missing("POST", under: "/media_library", "create", instead: media)
        + missing("PUT", under: "/media_library", "replace_file", instead: media)
        + missing("GET", under: "/cdi", "integrations", instead: ingestion)
        + missing("GET", under: "/cdi/integrations", "{integration_id}/job_sync_status", instead: ingestion)
        + missing("POST", under: "/cdi/integrations", "{integration_id}/sync", instead: ingestion)
        + missing("GET", under: "/app_group/sdk_authentication", "keys", instead: sdkKeys)
        + missing("POST", under: "/app_group/sdk_authentication", "create", instead: sdkKeys)
        + missing("PUT", under: "/app_group/sdk_authentication", "primary", instead: sdkKeys)
        + missing("DELETE", under: "/app_group/sdk_authentication", "delete", instead: sdkKeys)
        + ["GET", "POST"].flatMap { missing($0, under: "/scim/v2", "Users", instead: dashboardUsers) }
        + ["GET", "PUT", "DELETE"].flatMap { missing($0, under: "/scim/v2", "Users/{id}", instead: dashboardUsers) }

    private static let translations: [Entry] =
        ["/campaigns", "/canvas", "/templates/email"].flatMap { folder in
            missing("GET", under: folder, "translations", "translations/source", instead: languages)
                + missing("PUT", under: folder, "translations", instead: languages)
        }
        + ["GET", "PUT"].flatMap { missing($0, under: "/content_blocks", "translations", instead: languages) }

    private static let catalogues: [Entry] =
        ["GET", "POST"].flatMap { missing($0, under: "", "catalogs", instead: catalogItems) }
        + missing("DELETE", under: "/catalogs", "{catalog_name}", instead: catalogItems)
        + ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap { method in
            missing(
                method, under: "/catalogs/{catalog_name}", "items", "items/{item_id}", instead: catalogItems)
        }
        + ["fields", "selections"].flatMap { part in
            missing("POST", under: "/catalogs/{catalog_name}", part, instead: catalogItems)
                + missing("DELETE", under: "/catalogs/{catalog_name}/\(part)", "{name}", instead: catalogItems)
        }

    private static func simulated(_ method: String, under folder: String, _ names: String...) -> [Entry] {
        names.map { Entry(method: method, path: "\(folder)/\($0)", instead: nil) }
    }

    private static func missing(
        _ method: String, under folder: String, _ names: String..., instead: String
    ) -> [Entry] {
        names.map { Entry(method: method, path: "\(folder)/\($0)", instead: instead) }
    }
}

/// Replacements for endpoints that are not simulated.
extension BrazeReference {
    private static let segments =
        "Declare a segment in the workspace file, and export it with POST /users/export/segment."
    private static let exportIsComplete =
        "POST /users/export/segment answers when its file is complete: nothing runs that could be cancelled."
    private static let liveActivity =
        "Send a push with POST /messages/send; /v1/devices/DEVICE/pushes shows what becomes of it."
    private static let campaigns =
        "The workspace file declares campaigns and canvases; GET /v1/sends lists what was sent."
    private static let sends = "GET /v1/sends lists each send, with its campaign and what became of it."
    private static let copies = "Copy the campaign or canvas in the workspace file, under another id."
    private static let feed =
        "POST /messages/send sends content cards; /v1/devices/DEVICE/messages shows in-app messages."
    private static let emailStatus =
        "Set `email_subscribe` with POST /users/track: the attributes object may name the user by `email`."
    private static let unsubscribes =
        "GET /v1/users?where=email_subscribe=\"unsubscribed\" lists the users; /v1/history tells when."
    private static let nothingBounces = "No e-mail leaves the service, so none bounces and none is marked as spam."
    private static let noInvalidNumbers = "No SMS leaves the service, so no number is found to be invalid."
    private static let templates = "Write the text into the message: in the request, or in the workspace file."
    private static let languages = "Declare a message for each language in the workspace file."
    private static let catalogItems =
        "Send what a text needs of an item with the request, as `trigger_properties` or `canvas_entry_properties`."
    private static let preferences = "Set subscription groups with POST /v2/subscription/status/set."
    private static let media = "Give the message the address at which the file is."
    private static let ingestion =
        "`profilecli import` reads files; POST /users/track and /v1/batch take rows as they come."
    private static let sdkKeys = "Simulated devices need no key: `profilecli launch` and /v1/devices work without."
    private static let dashboardUsers = "There is no dashboard; `profiled keys` makes keys for the API."
}

extension BrazeAPI {
    package static var missing: [MissingEndpoint] {
        BrazeReference.entries.compactMap { entry in
            entry.instead.map { MissingEndpoint(entry.method, entry.path, instead: $0) }
        }
    }
}
