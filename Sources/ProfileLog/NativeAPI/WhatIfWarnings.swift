internal import ProfileLogRequests

/// Parameters of a what-if that change nothing, and what its history lacks, so that its answer is not taken for one to
/// another question.
struct WhatIfWarnings {
    /// A parameter and a clause about it, as in an `APIProblem`.
    private(set) var all: [(place: String, reason: String)] = []

    init(_ request: APIRequest, _ policy: PublishedPolicy, _ report: WhatIfReport) throws {
        let given = Set(request.query.map(\.name))
        var conditions = policy.conditions
        var unread: Set<String> = []
        for (name, readers) in Self.readers where given.contains(name) && policy.faults.isDisjoint(with: readers) {
            let numbers = readers.map { "\($0.number)" }.joined(separator: ", ")
            add(name, "changes nothing: no fault that reads it (\(numbers)) is switched on")
            unread.insert(name)
        }
        let processes = report.processes
        if unread.contains("stray") { conditions.strayProcesses = [] }
        if unread.contains("language") { conditions.languages = [:] }
        if unread.contains("blocklist") { conditions.blocklist = [] }
        for process in conditions.strayProcesses.subtracting(processes).sorted() {
            add("stray", "names \(Self.shown(process)), \(Self.unknown(processes))")
        }
        for process in Set(conditions.languages.keys).subtracting(processes).subtracting([DeviceStorage.app]).sorted() {
            add("language", "names \(Self.shown(process)), \(Self.unknown(processes))")
        }
        for name in conditions.blocklist.subtracting(report.blocklistMet).sorted() {
            add("blocklist", "names \(Self.shown(name)), which no saved event or attribute has")
        }
        let words = Query.faultWords(request.query.filter { $0.name == "fault" }.map(\.value))
        let faults = try Query.faultsByNumber(words)
        let isAll = words.contains("all") && !given.contains("language")
        let remedy = isAll ? "not all can show together: ask for it apart" : "name another language"
        for fault in processes.isEmpty ? [] : faults.sorted() {
            guard let why = policy.whyHidden(fault, of: processes) else { continue }
            add("fault", "\(fault.number) cannot show: \(why); \(remedy)")
        }
        if report.unplayed > 0 {
            let what = "launches, settings or discards of erased persons (\(report.unplayed))"
            add("The history", "lacks \(what): on which devices they were, nobody knows")
        }
        if report.guessed > 0 {
            let what = "the kind and the lists of launches of erased persons (\(report.guessed))"
            add("The history", "lacks \(what): each is played as a cold one of all lists")
        }
    }

    private mutating func add(_ place: String, _ reason: String) { all.append((place, reason)) }

    private static func shown(_ name: Name) -> String { APIProblem.shown(name.text) }

    private static func unknown(_ processes: Set<Name>) -> String {
        let known = processes.sorted().prefix(10).map(shown).joined(separator: ", ")
        return processes.isEmpty ? "and nothing was saved" : "which saved nothing; these did: \(known)"
    }

    /// Which faults read a parameter.
    private static let readers: [(name: String, faults: [Fault])] = [
        (
            "language",
            [
                .eventSavedAsAttributes, .emptyEmailUndecodable, .languagesEncodeDifferently, .archivingFails,
                .numbersChangeType, .collectionsVanish, .arraySetterUnused,
            ]
        ),
        ("numbers", [.numbersChangeType]), ("save_ms", [.savesOverwriteEachOther]),
        ("flush_ms", [.savesOverwriteEachOther, .removalTakesMoreThanRead]),
        ("crash_every", [.crashBeforeRemoval, .crashBeforePersistence]), ("crash_after", [.crashBeforeRemoval]),
        ("unstored", [.crashBeforePersistence]), ("scenes", [.flushedTwice]),
        ("update_every", [.updateBreaksDecoding, .storedTypeMismatch]), ("locked_every", [.readBeforeUnlock]),
        ("instance_missing_until", [.instanceMissing]), ("sdk", [.refusalIgnored, .noSessionInBackground]),
        ("sdk_disabled", [.refusalIgnored]), ("blocklist", [.refusalIgnored]),
        ("stray", [.storageArgumentForgotten, .appGroupMissing]),
    ]

    /// Writes the member `warnings`.
    func write(to json: inout JSONWriter) {
        json.objects("warnings", all) { json, warning in
            json.member("place", warning.place)
            json.member("reason", warning.reason)
        }
    }
}
