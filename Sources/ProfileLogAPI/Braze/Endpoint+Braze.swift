extension API {
    /// The endpoints that clients of Braze's REST API speak to. docs/braze-compatibility.md tells what is the same.
    static let brazeEndpoints: [Endpoint] = [
        Endpoint(.post, "/users/track", "store attributes, events and purchases of users") { await $0.trackUsers($1) },
        Endpoint(.post, "/users/track/sync", "store one of them, and see the profile afterwards") {
            await $0.trackUserInSync($1)
        },
        Endpoint(.post, "/users/export/ids", "profiles by their identifiers") { $0.exportUsers($1) },
    ]
}
