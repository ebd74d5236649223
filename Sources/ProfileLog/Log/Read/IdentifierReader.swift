/// Reads who is known by an identifier or address that begins with a text.
///
/// The tables are in the order of such searches already: `identifiers` has external IDs, and the aliases of each label,
/// by their bytes, `contacts` the addresses of each length, and `devices` the devices. So a page merges these runs, a
/// row of each at a time, with what the tail has. It costs a look-up for each row and run, and a walk through the
/// identifiers of the tail.
package struct IdentifierReader: ReaderPart {
    let log: LogReader

    /// An identifier, as it was given, and the user that it leads to.
    package struct Found: Sendable {
        package let id: UserID
        package let user: UserInfo
    }

    package struct Page: Sendable {
        package var found: [Found] = []
        /// The place after which more may follow; nil at the end.
        package var next: IdentifierPlace?
        /// Tells whether an address was given to more users, or aliases have more labels, than a search looks at.
        package var isCut = false
    }

    /// Identifiers of no one by now that one page passes: it may be short although more follow.
    private static let mostPassed = 500
    /// A search looks at so many of the users who were given one address.
    package static let mostHolders = 1_000
    /// Labels of aliases that a search looks at.
    package static let mostLabels = 1_000

    /// Up to `limit` identifiers that lead to a user, after the place `after` in the order of the search.
    ///
    /// The users are canonical: one who was merged into another is found as that one. A user is there once for each of
    /// their identifiers that the search finds. `skipping` gets each user with damage, who is then skipped; nil to
    /// throw at the first.
    package func page(
        _ search: IdentifierSearch, after: IdentifierPlace? = nil, limit: Int,
        skipping: ((UserNumber, StorageError) -> Void)? = nil
    ) throws -> Page {
        try withView { view in
            // It may be a later change of what is found, or hide it.
            try view.refuseDamage()
            var page = Page()
            if let id = search.longID {
                if let user = try view.user(id, braze: braze), after == nil {
                    page.found = try found(id, at: nil, user, view, skipping).map { [$0] } ?? []
                }
                return page
            }
            // Each place that is met is found or passed, but for the one that says that more follow.
            var places = try IdentifierPlaces(search, after: after, most: limit + Self.mostPassed + 1, view, braze)
            page.isCut = places.isCut
            var (passed, last) = (0, after)
            while let place = try places.next() {
                try view.budget?.check()
                let users = try users(at: place, search, after: after, &page, view)
                for user in users {
                    var own = place
                    own.user = place.kind.isAddress ? user : 0
                    if let found = try found(place.id, at: place, user, view, skipping) {
                        if page.found.count == limit {
                            page.next = last
                            return page
                        }
                        page.found.append(found)
                        last = own
                        continue
                    }
                    passed += 1
                    if passed == Self.mostPassed {
                        page.next = own
                        return page
                    }
                }
                guard users.isEmpty else { continue }
                passed += 1
                if passed == Self.mostPassed {
                    page.next = place
                    // After all users of the address.
                    if place.kind.isAddress, !search.isReversed { page.next?.user = .max }
                    return page
                }
            }
            return page
        }
    }

    /// The user that `id` leads to; nil if they were erased, or do not have the address at `place`.
    private func found(
        _ id: UserID, at place: IdentifierPlace?, _ user: UInt64, _ view: LogView,
        _ skipping: ((UserNumber, StorageError) -> Void)?
    ) throws -> Found? {
        do {
            let user = try info(view.canonicalUser(of: user), view)
            guard !user.isErased else { return nil }
            guard let place, place.kind.isAddress else { return Found(id: id, user: user) }
            guard let form = try log.addresses.form(of: id, user, view) else { return nil }
            return Found(id: place.kind == .email ? .email(form) : .phone(form), user: user)
        } catch let error as StorageError {
            let user = UserNumber(rawValue: user)
            // The view does not see an erasure that came after it, whose names are gone.
            if (try? LogReader(store, states).users.find(user))?.isErased == true { return nil }
            guard case .damaged = error, let skipping else { throw error }
            skipping(user, error)
            return nil
        }
    }

    /// The users that the identifier at `place` may lead to, in the order of the search, from the one after `after` on.
    private func users(
        at place: IdentifierPlace, _ search: IdentifierSearch, after: IdentifierPlace?, _ page: inout Page,
        _ view: LogView
    ) throws -> [UInt64] {
        guard place.kind.isAddress else { return try view.user(place.id, braze: braze).map { [$0] } ?? [] }
        let key = [place.kind.rawValue, UInt8(place.text.count)] + place.text
        let holders = try view.users(contact: key, beyond: Self.mostHolders)
        if holders.count > Self.mostHolders { page.isCut = true }
        var users: Set<UInt64> = []
        for user in holders.prefix(Self.mostHolders) { users.insert(try view.canonicalUser(of: user)) }
        let ascending = users.sorted()
        let ordered = search.isReversed ? ascending.reversed() : ascending
        guard let after, after.isSameIdentifier(as: place) else { return ordered }
        return ordered.filter { search.isReversed ? $0 < after.user : $0 > after.user }
    }

    /// Up to `limit` devices whose IDs begin with `beginning`, ascending by bytes.
    package func devices(beginningWith beginning: String, limit: Int) throws -> [Name] {
        try withView { view in
            try view.refuseDamage()
            var devices: [Name] = []
            var places = try IdentifierPlaces(
                IdentifierSearch(devices: beginning), after: nil, most: limit + Self.mostPassed, view, braze)
            while devices.count < limit, let place = try places.next() {
                try view.budget?.check()
                let device = Name(place.id.parts[0])
                // The tail may know it from an event that the view does not see.
                if try view.device(device) != DeviceStatus() { devices.append(device) }
            }
            return devices
        }
    }
}

/// The places of identifiers in the order of a search, each once, of tables and tail together. Some may be of no one by
/// now.
private struct IdentifierPlaces {
    private let search: IdentifierSearch
    private let runs: IdentifierRuns
    /// The next place of each run that has one. The last one is the next of all.
    private var heads: [(place: IdentifierPlace, run: Int)] = []
    /// The places of the tail, in the same way.
    private var tail: [IdentifierPlace]

    /// Tells whether there are more labels of aliases than were looked at.
    var isCut: Bool { runs.isCut }

    /// The first `most` places after `after`.
    init(
        _ search: IdentifierSearch, after: IdentifierPlace?, most: Int, _ view: LogView, _ braze: BrazeIDs
    ) throws {
        self.search = search
        runs = try IdentifierRuns(search, view, braze)
        var first = FirstPlaces(search, after: after, most: most)
        try view.forEachIdentifierOfTail(backward: search.isReversed) { first.add($0, $1, label: $2) }
        tail = first.places.reversed()
        for run in runs.all.indices {
            if let place = try runs.place(in: run, beyond: after) { insert(place, run) }
        }
    }

    private mutating func insert(_ place: IdentifierPlace, _ run: Int) {
        let index = heads.lowerBound { search.precedes(place, $0.place) }
        heads.insert((place, run), at: index)
    }

    mutating func next() throws -> IdentifierPlace? {
        let nearest = [heads.last?.place, tail.last].compactMap(\.self)
        guard let place = nearest.min(by: search.precedes) else { return nil }
        if tail.last == place { tail.removeLast() }
        while let head = heads.last, head.place == place {
            heads.removeLast()
            if let next = try runs.place(in: head.run, after: place) { insert(next, head.run) }
        }
        return place
    }
}

/// The parts of tables in which rows are in the order of the identifiers' texts.
private struct IdentifierRuns {
    /// One of them: all its rows have keys that begin with `prefix`. For a `braze_id` there is no table.
    struct Run {
        let kind: IdentifierKind
        var table: Table?
        var prefix: [UInt8] = []
        var label: [UInt8] = []
        /// The bytes with which the texts begin.
        let beginning: [UInt8]
        /// The bytes of each text, if they are all of one length: they are followed by a user's number.
        var length: Int?
    }

    private let search: IdentifierSearch
    private let view: LogView
    private let braze: BrazeIDs
    private(set) var all: [Run] = []
    private(set) var isCut = false
    /// The numbers of the users whose `braze_id` begins as the search wants it.
    private var numbers: Range<UInt64> = 0..<0

    init(_ search: IdentifierSearch, _ view: LogView, _ braze: BrazeIDs) throws {
        (self.search, self.view, self.braze) = (search, view, braze)
        for kind in IdentifierKind.allCases {
            guard let beginning = search.beginning(kind) else { continue }
            switch kind {
            case .assignedID:
                numbers = try brazeNumbers(beginning)
                all.append(Run(kind: kind, beginning: beginning))
            case _ where view.checkpoint == 0: break
            case .externalID:
                let table = view.tables.identifiers.table
                all.append(Run(kind: kind, table: table, prefix: [kind.rawValue], beginning: beginning))
            case .device: all.append(Run(kind: kind, table: view.tables.devices.table, beginning: beginning))
            case .alias: try addAliases(beginning)
            case .email, .phone: try addAddresses(kind, beginning)
            }
        }
    }

    /// The numbers of users whose `braze_id` begins with these hexadecimal digits.
    private func brazeNumbers(_ beginning: [UInt8]) throws -> Range<UInt64> {
        let text = String(decoding: beginning, as: UTF8.self)
        let end = try view.userCount() + 1
        if text.utf8.count <= braze.prefix.utf8.count { return braze.prefix.hasPrefix(text) ? 1..<end : 1..<1 }
        guard text.hasPrefix(braze.prefix) else { return 1..<1 }
        let digits = String(text.dropFirst(braze.prefix.utf8.count))
        let rest = 16 - digits.utf8.count
        guard let low = UInt64(digits + String(repeating: "0", count: rest), radix: 16),
            let high = UInt64(digits + String(repeating: "f", count: rest), radix: 16), low < end, high > 0
        else { return 1..<1 }
        return max(low, 1)..<(min(high, end - 1) + 1)
    }

    /// A run for each label.
    private mutating func addAliases(_ beginning: [UInt8]) throws {
        let (table, kind) = (view.tables.identifiers.table, IdentifierKind.alias)
        func run(_ prefix: [UInt8]) -> Run {
            Run(kind: kind, table: table, prefix: prefix, label: Array(prefix.dropFirst(3)), beginning: beginning)
        }
        if case .one(let label) = search.labels {
            var prefix = [kind.rawValue]
            prefix.appendBigEndian(UInt16(truncatingIfNeeded: label.count))
            return all.append(run(prefix + label))
        }
        var (key, labels) = ([kind.rawValue], 0)
        try view.withCursor(table) { cursor in
            while let row = try cursor.seek(key), row.key.first == kind.rawValue {
                guard let prefix = row.key.aliasPrefix else {
                    throw StorageError.damaged(place: "a row of table identifiers")
                }
                if labels == IdentifierReader.mostLabels {
                    isCut = true
                    return
                }
                labels += 1
                if search.accepts(label: prefix.slice(3..<prefix.count)) { all.append(run(Array(prefix))) }
                // No text in UTF-8 has this byte.
                key = Array(prefix) + [0xFF]
            }
        }
    }

    /// A run for each length that addresses have.
    private mutating func addAddresses(_ kind: IdentifierKind, _ beginning: [UInt8]) throws {
        let table = view.tables.contacts.table
        try view.withCursor(table) { cursor in
            var length = beginning.count
            while length <= KeyCoding.longestPlainIdentifier,
                let row = try cursor.seek([kind.rawValue, UInt8(length)]), row.key.first == kind.rawValue
            {
                guard ContactKey.isKey(row.key) else { throw StorageError.damaged(place: "a row of table contacts") }
                length = Int(row.key[1])
                all.append(
                    Run(
                        kind: kind, table: table, prefix: [kind.rawValue, UInt8(length)], beginning: beginning,
                        length: length))
                length += 1
            }
        }
    }

    // MARK: - Places

    /// The first place of a run from `place` on, without it; from the start if that is nil. The identifier of `place`
    /// itself is there again if it is an address: it may have more users.
    func place(in run: Int, beyond place: IdentifierPlace?) throws -> IdentifierPlace? {
        try self.place(in: run, place) { $0 == place?.kind && $0.isAddress }
    }

    /// The first place of a run after `place`.
    func place(in run: Int, after place: IdentifierPlace) throws -> IdentifierPlace? {
        try self.place(in: run, place) { _ in false }
    }

    /// The first place of a run after `place`, or at its text if `isWanted` returns true for the run's kind.
    private func place(
        in index: Int, _ place: IdentifierPlace?, isWanted: (IdentifierKind) -> Bool
    ) throws -> IdentifierPlace? {
        let run = all[index]
        guard let table = run.table else { return brazePlace(place) }
        let key = Self.key(run, place, isReversed: search.isReversed) { text in
            if isWanted(run.kind) { return true }
            guard let place else { return true }
            return search.precedes(place, IdentifierPlace(run.kind, text, label: run.label))
        }
        return try view.withCursor(table) { cursor in
            let row = search.isReversed ? try cursor.last(before: key) : try cursor.seek(key)
            guard let row, row.key.begins(with: run.prefix + run.beginning) else { return nil }
            guard run.length == nil || ContactKey.isKey(row.key) else {
                throw StorageError.damaged(place: "a row of table contacts")
            }
            let end = row.key.count - (run.length == nil ? 0 : 8)
            return IdentifierPlace(run.kind, Array(row.key.slice(run.prefix.count..<end)), label: run.label)
        }
    }

    /// The key from which on, or before which, the next row of a run is. `takesText` tells whether that may have a text
    /// that is the same as that of `place`.
    private static func key(
        _ run: Run, _ place: IdentifierPlace?, isReversed: Bool, takesText: ([UInt8]) -> Bool
    ) -> [UInt8] {
        // No text in UTF-8 has this byte, and no user a number that begins with it.
        let start = run.prefix + run.beginning + (isReversed ? [0xFF] : [])
        guard let place else { return start }
        let text = place.text
        if !text.starts(with: run.beginning) {
            let isBefore = text.lexicographicallyPrecedes(run.beginning)
            // All of the run is beyond the place, or nothing.
            return isBefore != isReversed ? start : run.prefix + text
        }
        guard let length = run.length else {
            // The text that follows is the same with a zero at its end.
            return run.prefix + text + (takesText(text) == isReversed ? [0] : [])
        }
        // A longer text comes after all users of its beginning, a shorter one before all longer ones.
        let part = Array(text.prefix(length))
        let isPast = text.count > length || (text.count == length && takesText(text) == isReversed)
        return run.prefix + part + (isPast ? [UInt8](repeating: 0xFF, count: 9) : [])
    }

    private func brazePlace(_ place: IdentifierPlace?) -> IdentifierPlace? {
        func at(_ number: UInt64) -> IdentifierPlace { IdentifierPlace(.assignedID, Array(braze.id(number).utf8)) }
        // The number of the first ID after `place`, in reverse order the one after the last ID before it.
        var (low, high) = (numbers.lowerBound, numbers.upperBound)
        if let place {
            while low < high {
                let middle = low + (high - low) / 2
                if search.isReversed ? at(middle) < place : at(middle) <= place {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
        } else if search.isReversed {
            low = high
        }
        if search.isReversed { return low > numbers.lowerBound ? at(low - 1) : nil }
        return low < numbers.upperBound ? at(low) : nil
    }
}

/// The first places of a search among many, in its order.
private struct FirstPlaces {
    private let search: IdentifierSearch
    private let after: IdentifierPlace?
    private let most: Int
    private var found: [IdentifierPlace] = []
    /// The last of the first places so far, if there are enough: what comes after it is none of them.
    private var end: IdentifierPlace?

    init(_ search: IdentifierSearch, after: IdentifierPlace?, most: Int) {
        (self.search, self.after, self.most) = (search, after, most)
    }

    /// The places, each once.
    var places: [IdentifierPlace] {
        var copy = self
        copy.cut()
        return copy.found
    }

    /// Adds an identifier, unless it cannot be among the first: most are refused by their bytes alone.
    mutating func add(_ kind: IdentifierKind, _ text: UnsafeRawBufferPointer, label: UnsafeRawBufferPointer) {
        guard let beginning = search.beginning(kind), text.begins(with: beginning) else { return }
        if let end, isBefore(end, text) { return }
        if let after, isBeyond(after, text) { return }
        if kind == .alias, !search.accepts(label: label) { return }
        let place = IdentifierPlace(kind, Array(text), label: Array(label))
        if let after, !search.precedes(after, place), !(kind.isAddress && place.isSameIdentifier(as: after)) { return }
        found.append(place)
        if found.count >= 2 * most { cut() }
    }

    /// Tells whether the text of `place` comes before `text` in the order of the search.
    private func isBefore(_ place: IdentifierPlace, _ text: UnsafeRawBufferPointer) -> Bool {
        let order = place.text.withUnsafeBytes { text.order(to: $0) }
        return search.isReversed ? order < 0 : order > 0
    }

    /// Tells whether the text of `place` comes after `text` in the order of the search.
    private func isBeyond(_ place: IdentifierPlace, _ text: UnsafeRawBufferPointer) -> Bool {
        let order = place.text.withUnsafeBytes { text.order(to: $0) }
        return search.isReversed ? order > 0 : order < 0
    }

    private mutating func cut() {
        found.sort(by: search.precedes)
        var each: [IdentifierPlace] = []
        for place in found where each.last != place {
            if each.count == most { break }
            each.append(place)
        }
        found = each
        end = each.count == most ? each.last : nil
    }
}

extension LogView {
    /// Identifiers of the tail that are looked at while no one can add to it.
    private static var identifiersAtOnce: Int { 16_384 }

    /// Calls `body` with the kind, the text and the label of each identifier that the tail has, also of those that
    /// lead to no one. `backward`, the last that arrived comes first: where IDs ascend, the first ones of a search are
    /// met early then, and all others are refused at once.
    fileprivate func forEachIdentifierOfTail(
        backward: Bool,
        _ body: (IdentifierKind, _ text: UnsafeRawBufferPointer, _ label: UnsafeRawBufferPointer) -> Void
    ) throws {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try forEachOfTail({ $0.identifiers.count }, backward: backward) { tail, index in
            tail.identifiers.withBytes(of: index) { key in
                if key.first == IdentifierKind.externalID.rawValue {
                    body(.externalID, key.slice(1..<key.count), none)
                } else if let prefix = key.aliasPrefix {
                    body(.alias, key.slice(prefix.count..<key.count), prefix.slice(3..<prefix.count))
                }
            }
        }
        try forEachOfTail({ $0.contacts.count }, backward: backward) { tail, index in
            tail.contacts.keys.withBytes(of: index) { key in
                // Others are hashes.
                guard let kind = key.first.flatMap(IdentifierKind.init(rawValue:)), kind.isAddress else { return }
                body(kind, key.slice(2..<(key.count - 8)), none)
            }
        }
        try forEachOfTail({ $0.deviceNames.count }, backward: backward) { tail, index in
            tail.deviceNames[index].text.withRawUTF8 { if !$0.isEmpty { body(.device, $0, none) } }
        }
    }

    private func forEachOfTail(
        _ count: (borrowing Tail) -> Int, backward: Bool, _ body: (borrowing Tail, Int) -> Void
    ) throws {
        let total = withTail { count($0) }
        var done = 0
        while done < total {
            try budget?.check()
            let end = min(done + Self.identifiersAtOnce, total)
            withTail { tail in for step in done..<end { body(tail, backward ? total - 1 - step : step) } }
            done = end
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The first bytes of this key of an alias, up to the end of its label; nil if it is none. (`KeyCoding`)
    fileprivate var aliasPrefix: UnsafeRawBufferPointer? {
        guard count >= 3, self[0] == IdentifierKind.alias.rawValue else { return nil }
        let end = 3 + Int(self[1]) << 8 + Int(self[2])
        return end <= count ? slice(0..<end) : nil
    }
}
