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
    ]
}
