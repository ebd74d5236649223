internal import ProfileLogRequests

/// What a Braze workspace is set up with and no request says: apps, subscription groups, segments, blocklists, types,
/// limits.
///
/// docs/workspace.md describes the file. Without one there are no groups and no segments, nothing is blocked, and the
/// limits are those of the documentation.
package struct Workspace: Sendable {
    /// The apps that an `app_id` may name; empty if any may be named.
    var apps: [App] = []
    var subscriptionGroups: [SubscriptionGroup] = []
    var segments: [Segment] = []
    /// Custom attributes that are not processed.
    var blockedAttributes: Set<Name> = []
    /// Custom events that are not processed.
    var blockedEvents: Set<Name> = []
    /// Types of custom attributes that do not depend on their first value.
    var forcedTypes: [Name: AttributeType] = [:]
    var limits = TrackLimits()
    /// Days that exports look back for events and purchases; nil for the whole history.
    var exportWindowDays: Int?

    /// An app of the workspace.
    struct App: Hashable {
        var id: String
        var name: String
        var platform: String?
    }

    /// What a user can subscribe to.
    struct SubscriptionGroup: Hashable {
        var id: String
        var name: String
        /// `email`, `sms`, …: as in answers.
        var channel: String
    }

    /// Users by what their profiles say.
    struct Segment: Hashable {
        var id: String
        var name: String
        var rule: SegmentRule
    }

    /// The workspace without a file.
    package init() {}

    /// Whether requests may name the app `id`.
    func knowsApp(_ id: String) -> Bool { apps.isEmpty || app(id) != nil }

    func app(_ id: String) -> App? { apps.first { $0.id.utf8.elementsEqual(id.utf8) } }

    func subscriptionGroup(_ id: String) -> SubscriptionGroup? {
        subscriptionGroups.first { $0.id.utf8.elementsEqual(id.utf8) }
    }

    func segment(_ id: String) -> Segment? { segments.first { $0.id.utf8.elementsEqual(id.utf8) } }
}
