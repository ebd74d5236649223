/// What decides how the published snippets fare and no history says. Each has a default; only some faults read it.
public struct PublishedConditions: Hashable, Sendable {
    /// The language of every process that `languages` does not name; nil: that in which the faults show, else Swift.
    public var language: SnippetLanguage?
    /// The language of single processes, by their names; the app is `app`.
    public var languages: [Name: SnippetLanguage] = [:]
    /// What a cast makes of stored numbers (18).
    public var numbers = PlistNumbers.bridged

    /// From a save's reading of a list to its writing (22).
    public var saveLasts = Duration.milliseconds(10)
    /// From a flush's reading of a list to its removal (22, 23).
    public var flushLasts = Duration.milliseconds(100)
    /// Of how many flushes that find something one crashes: before its removal the 1st, (n+1)th … (24); after it the nth, 2nth … (25).
    public var flushesPerCrash = 2
    /// After how many items it crashes; nil: right before the first removal (24).
    public var itemsBeforeCrash: Int?
    /// How many of a crashed flush's last items the SDK had not stored (25).
    public var itemsUnstored = 1
    /// Scenes that flush at each launch (31).
    public var scenes = 2
    /// The app is updated right before each nth launch of a device (14, 28).
    public var launchesPerUpdate = 2
    /// Each nth save on a device comes before the first unlock (37).
    public var savesPerLockedSave = 10

    /// Until when launches find no instance of the SDK, as before a consent; nil: for ever (26).
    public var instanceMissingUntil: Timestamp?
    /// The SDK in the app (27, 30).
    public var sdk = SDKVersion.last18_0
    /// Whether the SDK is disabled (27).
    public var isSDKDisabled = false
    /// Names of events and attributes that the SDK refuses (27).
    public var blocklist: Set<Name> = []
    /// Processes that forget the storage argument (34), or whose target lacks the app group (36); empty: every extension.
    public var strayProcesses: Set<Name> = []

    /// Makes the conditions in which everything has its default.
    public init() {}

    /// Whether `process` looks into another storage than it should.
    func isStray(_ process: Name) -> Bool {
        strayProcesses.isEmpty ? process != DeviceStorage.app : strayProcesses.contains(process)
    }

    var isAnythingObjectiveC: Bool { language == .objectiveC || languages.values.contains(.objectiveC) }
}
