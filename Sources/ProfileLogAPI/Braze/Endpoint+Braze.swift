extension API {
    /// The endpoints that clients of Braze's REST API speak to. docs/braze-compatibility.md tells what is the same.
    static let brazeEndpoints: [Endpoint] = [
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
        Endpoint(.get, "/exports/{file}", "the file of an export") { $0.exportedFile($1) },
    ]
}
