import ProfileLog
import TestSupport
import Testing

@Suite("Who is known by which ID")
struct IdentityTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    private let ana = UserID.externalID("ana")
    private let bo = UserID.externalID("bo")
    private let crm = UserID.alias(label: "crm", name: "7")
    private let web = UserID.alias(label: "web", name: "w")

    private func open(indexLag: Int = 3) throws -> EventLog {
        try folder.open(options: .small(clock, indexLag: indexLag))
    }

    @discardableResult
    private func change(_ change: IdentityChange, _ log: EventLog) throws -> AppendReceipt {
        try log.commit(.identity(change, context: EventContext(source: .rest)))
    }

    private func played(_ user: UserID, _ log: EventLog, _ name: Name = "played") throws {
        _ = try log.append([.customEventLogged(CustomEvent(name: name))], to: user)
    }

    private func count(_ user: UserID, _ log: EventLog, _ name: Name = "played") throws -> UInt64 {
        guard let info = try log.find(user) else { return 0 }
        return try log.named(log.profile(of: info.number)).customEvents.first { $0.name == name }?.occurrences
            .count
            ?? 0
    }

    /// Checks that a result stays the same after the index is written, after the caches are rebuilt, and in another
    /// process.
    private func stays(_ log: EventLog, _ body: (EventLog) throws -> Void) throws {
        try body(log)
        try log.expectSound()
        try log.writeIndex()
        try body(log)
        try log.expectSound()
        try body(open())
        try log.rebuildCaches()
        try body(log)
        #expect(try log.replay(verify: true).isEqual)
    }

    // MARK: - Aliases

    @Test("An alias leads to its user, and makes one if no user is named", arguments: [1, 3, 40])
    func alias(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try played(ana, log)
        try change(.addAlias(alias: crm, user: ana), log)
        try change(.addAlias(alias: web, user: nil), log)
        #expect(try change(.addAlias(alias: crm, user: ana), log).places.isEmpty)
        #expect(try change(.addAlias(alias: web, user: nil), log).places.isEmpty)
        try stays(log) { (log) throws in
            #expect(try log.find(crm)?.ids == [ana, crm])
            #expect(try log.find(web)?.ids == [web])
        }
    }

    @Test("An alias belongs to one user, and a user has one under a label")
    func aliasRefused() throws {
        let log = try open()
        try played(ana, log)
        try played(bo, log)
        try change(.addAlias(alias: crm, user: ana), log)
        #expect(throws: AppendError.self) { try change(.addAlias(alias: crm, user: bo), log) }
        #expect(throws: AppendError.self) {
            try change(.addAlias(alias: .alias(label: "crm", name: "8"), user: ana), log)
        }
        #expect(throws: AppendError.unknownUser(.externalID("x"))) {
            try change(.addAlias(alias: web, user: .externalID("x")), log)
        }
        #expect(try log.find(web) == nil)
    }

    @Test("A renamed alias leads on under its new name, and the old name is free", arguments: [1, 3, 40])
    func renameAlias(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        let new = UserID.alias(label: "crm", name: "8")
        try change(.addAlias(alias: crm, user: nil), log)
        try change(.renameAlias(alias: crm, newAlias: new), log)
        try stays(log) { (log) throws in
            #expect(try log.find(crm) == nil)
            #expect(try log.find(new)?.ids == [new])
        }
        try played(crm, log)
        #expect(try log.find(crm)?.number != log.find(new)?.number)
        #expect(throws: AppendError.self) { try change(.renameAlias(alias: crm, newAlias: new), log) }
        #expect(throws: AppendError.self) { try change(.renameAlias(alias: crm, newAlias: web), log) }
    }

    // MARK: - External IDs

    @Test("An alias-only user becomes identified, with all that was")
    func identify() throws {
        let log = try open()
        try played(crm, log)
        try change(.identify(user: crm, externalID: ana), log)
        try stays(log) { (log) throws in
            #expect(try log.find(ana)?.ids == [crm, ana])
            #expect(try count(ana, log) == 1)
        }
        #expect(throws: AppendError.self) { try change(.identify(user: crm, externalID: bo), log) }
    }

    @Test(
        "If the external ID has a user, the two become one; with an alias of the same label they stay two",
        arguments: [1, 3, 40])
    func identifyKnown(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try played(ana, log)
        try played(crm, log)
        try played(web, log)
        try change(.identify(user: crm, externalID: ana), log)
        try stays(log) { (log) throws in
            #expect(try log.find(crm)?.number == log.find(ana)?.number)
            #expect(try count(ana, log) == 2)
        }
        let other = UserID.alias(label: "crm", name: "other")
        try played(other, log)
        #expect(throws: AppendError.self) { try change(.identify(user: other, externalID: ana), log) }
        #expect(try count(ana, log) == 2)
    }

    @Test("A renamed external ID still leads to its user, until it is removed", arguments: [1, 3, 40])
    func renameExternalID(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try played(ana, log)
        try change(.renameExternalID(current: ana, newID: bo), log)
        try stays(log) { (log) throws in
            #expect(try log.find(ana)?.number == log.find(bo)?.number)
            #expect(try log.find(ana)?.id == bo)
        }
        #expect(throws: AppendError.self) { try change(.renameExternalID(current: ana, newID: .externalID("c")), log) }
        #expect(throws: AppendError.self) { try change(.removeExternalID(bo), log) }
        try change(.removeExternalID(ana), log)
        try stays(log) { (log) throws in
            #expect(try log.find(ana) == nil)
            #expect(try log.find(bo)?.ids == [bo])
        }
        try played(ana, log)
        #expect(throws: AppendError.self) { try change(.renameExternalID(current: bo, newID: ana), log) }
        #expect(try log.find(ana)?.version == Version(rawValue: 2))
    }

    // MARK: - Merges

    @Test(
        "A merged user's external ID is free, aliases move, and those of a label that the target has do not",
        arguments: [1, 3, 40])
    func merge(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        let kept = UserID.alias(label: "crm", name: "kept")
        try played(ana, log)
        try change(.addAlias(alias: crm, user: ana), log)
        try change(.addAlias(alias: web, user: ana), log)
        try played(bo, log)
        try change(.addAlias(alias: kept, user: bo), log)
        let old = try #require(try log.find(ana)).brazeID
        try change(.merge(source: ana, target: bo), log)
        try stays(log) { (log) throws in
            #expect(try log.find(bo)?.ids == [bo, kept, web])
            #expect(try log.find(web)?.number == log.find(bo)?.number)
            #expect(try log.find(.assignedID(old))?.number == log.find(bo)?.number)
            #expect(try log.find(ana) == nil)
            #expect(try log.find(crm) == nil)
            #expect(try count(bo, log) == 2)
        }
        try played(ana, log)
        #expect(try count(ana, log) == 1)
        #expect(try change(.merge(source: web, target: bo), log).places.isEmpty)
        #expect(throws: AppendError.unknownUser(crm)) { try change(.merge(source: crm, target: bo), log) }
    }

    @Test("A target without an external ID gets the source's")
    func mergeIdentified() throws {
        let log = try open()
        try played(ana, log)
        try played(crm, log)
        try change(.merge(source: ana, target: crm), log)
        try stays(log) { (log) throws in #expect(try log.find(ana)?.ids == [crm, ana]) }
    }

    // MARK: - Keys

    @Test(
        "Under a key a change is made once, after a restart too; under another note the key is refused",
        .hits(.keyReused),
        arguments: [1, 3, 40])
    func keys(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try played(ana, log)
        try played(bo, log)
        try played(crm, log)
        func merge(_ source: UserID, _ note: [UInt8], _ log: EventLog) throws -> AppendReceipt {
            try log.commit(
                .identity(
                    .merge(source: source, target: ana), context: EventContext(source: .rest), idempotencyKey: "k",
                    note: note))
        }
        // What changes nothing is not remembered.
        #expect(try merge(ana, [7], log).places.isEmpty)
        let first = try merge(crm, [7], log)
        #expect(first.places.count == 1)
        #expect(!first.isRepetition)
        try stays(log) { (log) throws in
            // The same request resolves to another user by now.
            let again = try merge(bo, [7], log)
            #expect(again.isRepetition)
            #expect(again.places == first.places)
            #expect(again.note == [7])
            #expect(throws: AppendError.keyReused(position: first.first)) { try merge(bo, [8], log) }
            #expect(try log.reader.events.append(underKey: "k")?.places == first.places)
            #expect(try count(ana, log) == 2)
            #expect(try count(bo, log) == 1)
        }
        #expect(throws: AppendError.self) {
            try PreparedAppend.identity(
                .addAlias(alias: web, user: nil), context: EventContext(source: .rest),
                idempotencyKey: String(repeating: "k", count: 1001))
        }
    }

    // MARK: - Addresses

    private func set(_ user: UserID, _ attribute: StandardAttribute, _ value: AttributeValue, _ log: EventLog) throws {
        _ = try log.append([.userAttributesChanged([UserAttributeChange(attribute, value)])], to: user)
    }

    @Test("Users are found by the address that they have now, however it is spelled", arguments: [1, 3, 40])
    func contacts(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        try set(crm, .email, "Ana@Example.com", log)
        try set(ana, .email, "ana@example.com", log)
        try set(bo, .email, "ana@example.com", log)
        try set(bo, .email, "bo@example.com", log)
        try set(bo, .phone, "+49 170 1", log)
        try played(crm, log)
        try stays(log) { (log) throws in
            let found = try log.reader.addresses.users(sharing: .email("ANA@example.com"))
            #expect(found.map(\.id) == [ana, crm])
            #expect(try log.reader.addresses.users(sharing: .email("bo@example.com")).map(\.id) == [bo])
            #expect(try log.reader.addresses.users(sharing: .phone("+491701")).map(\.id) == [bo])
            #expect(try log.reader.addresses.users(sharing: .email("ana@example.co")).isEmpty)
        }
        try change(.merge(source: crm, target: bo), log)
        #expect(try log.reader.addresses.users(sharing: .email("ana@example.com")).map(\.id) == [ana])
        try set(bo, .email, .null, log)
        try change(.merge(source: ana, target: bo), log)
        try stays(log) { (log) throws in
            #expect(try log.reader.addresses.users(sharing: .email("ana@example.com")).map(\.id) == [bo])
        }
    }

    @Test("A saved address is found once a launch has flushed it")
    func savedContact() throws {
        let log = try open()
        _ = try log.append(
            [.userAttributeSaved(UserAttributeChange(.email, "ana@example.com"))], to: ana, context: .saved(on: "d"))
        #expect(try log.reader.addresses.users(sharing: .email("ana@example.com")).isEmpty)
        _ = try log.launch(device: "d")
        try stays(log) { (log) throws in
            #expect(try log.reader.addresses.users(sharing: .email("ana@example.com")).map(\.id) == [ana])
        }
    }

    @Test("A user made by an address is found by it, as long as no attribute says otherwise")
    func madeByAddress() throws {
        let log = try open()
        try played(.email("a@example.com"), log)
        #expect(try log.reader.addresses.users(sharing: .email("A@example.com")).count == 1)
        try set(.email("a@example.com"), .email, "b@example.com", log)
        #expect(try log.reader.addresses.users(sharing: .email("a@example.com")).isEmpty)
        #expect(try log.reader.addresses.users(sharing: .email("b@example.com")).count == 1)
    }

    @Test(
        "An address by which a user was made is their attribute, and goes with them into another user",
        arguments: [1, 3, 40])
    func mergedMadeByAddress(indexLag: Int) throws {
        func attribute(_ attribute: StandardAttribute, of user: UserID, _ log: EventLog) throws -> AttributeValue? {
            try log.find(user).flatMap { user in
                try log.named(log.profile(of: user.number)).attributes.first { $0.name == Name(attribute.name) }?
                    .value
            }
        }
        let log = try open(indexLag: indexLag)
        let (email, phone, other) = (
            UserID.email("A@example.com"), UserID.phone("+49 30 1234567"), UserID.email("none")
        )
        for user in [email, phone, other, ana] { try played(user, log) }
        try set(bo, .email, "bo@example.com", log)
        try stays(log) { (log) throws in
            #expect(try attribute(.email, of: email, log) == "A@example.com")
            #expect(try attribute(.phone, of: phone, log) == "+49 30 1234567")
            #expect(try attribute(.email, of: other, log) == nil)
        }
        try change(.merge(source: phone, target: ana), log)
        try change(.merge(source: email, target: ana), log)
        try stays(log) { (log) throws in
            #expect(try log.reader.addresses.users(sharing: .email("a@example.com")).map(\.id) == [ana])
            #expect(try log.reader.addresses.users(sharing: .phone("+49301234567")).map(\.id) == [ana])
        }
        try change(.merge(source: ana, target: bo), log)
        try stays(log) { (log) throws in
            #expect(try attribute(.email, of: bo, log) == "bo@example.com")
            #expect(try log.reader.addresses.users(sharing: .email("a@example.com")).isEmpty)
            #expect(try log.reader.addresses.users(sharing: .phone("+49301234567")).map(\.id) == [bo])
        }
    }

    @Test("An address that was released is free, and its user is found by what they have", arguments: [1, 3, 40])
    func release(indexLag: Int) throws {
        let log = try open(indexLag: indexLag)
        let (old, new) = (UserID.email("a@example.com"), UserID.email("b@example.com"))
        try played(old, log)
        try set(old, .email, "b@example.com", log)
        try change(.releaseAddress(old), log)
        #expect(try change(.releaseAddress(old), log).places.isEmpty)
        #expect(throws: AppendError.self) { try change(.releaseAddress(ana), log) }
        try stays(log) { (log) throws in
            #expect(try log.find(old) == nil)
            #expect(try log.reader.addresses.users(sharing: new).map(\.ids) == [[]])
        }
        try played(old, log)
        try stays(log) { (log) throws in
            #expect(try log.reader.addresses.users(sharing: old).map(\.number.rawValue) == [2])
            #expect(try log.reader.addresses.users(sharing: new).map(\.number.rawValue) == [1])
        }
    }
}
