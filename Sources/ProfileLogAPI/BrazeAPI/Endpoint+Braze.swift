extension API {
    /// The endpoints that clients of Braze's REST API speak to. docs/braze-compatibility.md tells what is the same.
    static let brazeEndpoints: [Endpoint] = [
        Endpoint(.post, "/users/alias/new", "give users aliases") { await $0.addAliases($1) },
        Endpoint(.post, "/users/alias/update", "rename aliases") { await $0.renameAliases($1) },
        Endpoint(.post, "/users/identify", "give users without an external ID one") { await $0.identifyUsers($1) },
        Endpoint(.post, "/users/merge", "make two users one") { await $0.mergeUsers($1) },
        Endpoint(.post, "/users/external_ids/rename", "give users other external IDs") {
            await $0.renameExternalIDs($1)
        },
        Endpoint(.post, "/users/external_ids/remove", "forget external IDs that were renamed") {
            await $0.removeExternalIDs($1)
        },
        Endpoint(.post, "/users/delete", "erase users") { await $0.deleteUsers($1) },
        Endpoint(.post, "/users/track", "store attributes, events and purchases of users") { await $0.trackUsers($1) },
        Endpoint(.post, "/users/track/sync", "store one of them, and see the profile afterwards") {
            await $0.trackUserInSync($1)
        },
        Endpoint(.post, "/users/export/ids", "profiles by their identifiers") { $0.exportUsers($1) },
        Endpoint(.get, "/events/list", "names of custom events, 250 a page") { $0.eventNames($1) },
        Endpoint(.get, "/events", "custom events, 50 a page") { $0.customEvents($1) },
        Endpoint(.get, "/custom_attributes", "custom attributes with their types, 50 a page") {
            $0.customAttributes($1)
        },
        Endpoint(.get, "/purchases/product_list", "IDs of products, 250 a page") { $0.productIDs($1) },
        Endpoint(.post, "/users/track/bulk", "store up to 1,000 attributes, events and purchases") {
            await $0.trackUsersInBulk($1)
        },
        Endpoint(.post, "/subscription/status/set", "set a subscription group for users") {
            await $0.setSubscription($1)
        },
        Endpoint(.post, "/v2/subscription/status/set", "set several subscription groups for users") {
            await $0.setSubscriptions($1)
        },
        Endpoint(.get, "/subscription/status/get", "states of users in one subscription group") {
            $0.subscriptionStatus($1)
        },
        Endpoint(.get, "/subscription/user/status", "users with their subscription groups") {
            $0.subscriptionsOfUsers($1)
        },
        Endpoint(.post, "/users/export/segment", "profiles of a segment, as a file") { await $0.exportSegment($1) },
        Endpoint(.get, "/exports/{file}", "the file of an export") { try $0.exportedFile($1) },
    ]
}
