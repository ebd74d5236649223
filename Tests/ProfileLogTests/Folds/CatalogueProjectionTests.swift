import ProfileLog
import Testing

@Suite("The catalogue: what a store's events, attributes and products are called")
struct CatalogueProjectionTests {
    private func view(_ story: FoldStory<CatalogueProjection>, _ body: (CatalogueView) throws -> Void) throws {
        try story.then { log, state in try body(log.reader.catalogueView(state)) }
    }

    @Test("A logged event counts once, with its own time")
    func events() throws {
        try view(given(CatalogueProjection.self, .logged("a").at(7)).when(.logged("b"), .logged("a").at(3))) { view in
            #expect(view.events.map(\.name) == ["a", "b"])
            #expect(view.events[0].occurrences.count == 2)
            #expect(view.events[0].occurrences.first.rawValue == 3)
            #expect(view.events[0].occurrences.last.rawValue == 7)
            #expect(view.events[1].occurrences.first.rawValue == Happening.recordedAt(2))
        }
    }

    @Test("A purchase counts as often as its quantity says")
    func products() throws {
        let story = given(CatalogueProjection.self).when(
            .bought(3, "p", for: 1, "EUR"), .bought(1, "o", for: -1, "USD"))
        try view(story) { view in
            #expect(view.products.map(\.name) == ["o", "p"])
            #expect(view.products.map(\.occurrences.count) == [1, 3])
            #expect(view.events.isEmpty)
        }
    }

    static let values: [(AttributeOperation, AttributeType?, UInt64)] = [
        (.set(.bool(false)), .boolean, 0), (.set(.int(1)), .number, 0), (.set(.double(1.5)), .number, 0),
        (.set(.string("x")), .string, 0), (.set(.string("00000000-0000-0000-0000-000000000000")), .string, 0),
        (.set(.date(OccurredAt(Timestamp(rawValue: 0)))), .time, 0), (.set(.array([.int(1), .int(2)])), .array, 2),
        (.set(.object([.init("k", .int(1))])), .object, 0), (.set(.array([.object([])])), .objectArray, 1),
        (.set(.array([])), nil, 0), (.set(.null), nil, 0), (.unset, nil, 0), (.increment(2), .number, 0),
        (.arrayAdd([.int(1), .int(2), .int(3)]), .array, 3), (.arrayRemove([.int(1)]), nil, 0),
        (.objectMerge([.init("k", .int(1))]), .object, 0), (.objectsAdd([.object([])]), .objectArray, 1),
        (.objectsUpdate([], merging: true), nil, 0), (.objectsRemove([]), nil, 0),
    ]

    @Test("Each operation that gives a value says of which type it is", arguments: values)
    func types(operation: AttributeOperation, type: AttributeType?, elements: UInt64) throws {
        try view(given(CatalogueProjection.self).when(.changed("a", operation))) { view in
            #expect(view.attributes.first?.firstType == type)
            #expect(view.attributes.first?.counts == type.map { [$0: 1] })
            #expect((view.attributes.first?.longestArray ?? 0) == elements)
        }
    }

    @Test("The first type stays, and each type has its count")
    func firstType() throws {
        let story = given(CatalogueProjection.self, .set("a", 1)).when(
            .set("a", "x"), .set("a", 2), .set("a", .array([1, 2])), .set("a", .array([1])), .changed("a", .unset))
        try view(story) { view in
            #expect(view.attributes.map(\.firstType) == [.number])
            #expect(view.attributes[0].counts == [.number: 2, .string: 1, .array: 2])
            #expect(view.attributes[0].longestArray == 2)
        }
    }

    @Test("A standard attribute is no custom one")
    func standard() throws {
        try view(given(CatalogueProjection.self).when(.set(.email, "a@b.example"))) { #expect($0.attributes.isEmpty) }
    }

    @Test("A saved item counts when it is flushed, once, with the time at which it was saved")
    func saved() throws {
        try view(given(CatalogueProjection.self, .saved("a").at(5), .saved("b", .set(1)))) { view in
            #expect(view.events.isEmpty && view.attributes.isEmpty)
        }
        let story = given(CatalogueProjection.self, .saved("a").at(5), .saved("b", .set(1)))
            .when(.launched, .flushed(1, 2), .flushed(77))
        try view(story) { view in
            #expect(view.events.map(\.occurrences.count) == [1])
            #expect(view.events[0].occurrences.first.rawValue == 5)
            #expect(view.attributes[0].counts == [.number: 1])
        }
    }

    @Test("What is rejected or discarded never counts")
    func refused() throws {
        let story = given(CatalogueProjection.self, .saved("a"), .saved("b")).when(
            .launched, .flushed(rejecting: 1), .discarded(2))
        try view(story) { #expect($0.events.isEmpty) }
    }

    @Test("What the SDK took counts when it is sent")
    func queued() throws {
        let queued = Happening(
            event: .queued(.purchaseLogged(Purchase(product: "p", currency: "EUR", price: 1, quantity: 2))),
            context: EventContext(source: .app, device: Happening.device))
        try view(given(CatalogueProjection.self, queued)) { #expect($0.products.isEmpty) }
        let sent = Happening(
            event: .dataSent([Position(rawValue: 1)]), context: EventContext(source: .app, device: Happening.device))
        try view(given(CatalogueProjection.self, queued).when(sent)) { view in
            #expect(view.products.map(\.occurrences.count) == [2])
        }
    }

    @Test("What a launch only hands to the SDK counts when it is sent, once")
    func handed() throws {
        let device = EventContext(source: .app, device: Happening.device)
        let flush = Flush(launch: .start, chunk: 0, flushed: [Position(rawValue: 1)], isQueued: true)
        let handed = Happening(event: .pendingFlushed(flush), context: device)
        let sent = Happening(event: .dataSent([Position(rawValue: 1)]), context: device)
        try view(given(CatalogueProjection.self, .saved("a"), handed)) { #expect($0.events.isEmpty) }
        try view(given(CatalogueProjection.self, .saved("a"), handed).when(sent)) { view in
            #expect(view.events.map(\.occurrences.count) == [1])
        }
    }

    @Test(
        "Bytes that are no catalogue are refused",
        arguments: [[1], [8, 1], [0, 0], [0, 0, 0, 0], [0, 0, 1, 7, 99]] as [[UInt8]])
    func noCatalogue(bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { CatalogueProjection.decode($0) } == nil)
    }
}

extension FoldStory where P == CatalogueProjection {
    func then(_ body: (EventLog, CatalogueState) throws -> Void, _ location: SourceLocation = #_sourceLocation) throws {
        try tell(location) { log, _, state in try body(log, state) }
    }
}
