import Foundation
import ProfileLog
import ProfileLogRequests
import TestSupport
import Testing

@testable import ProfileLogNativeAPI
@testable import ProfileLogRecords

/// The facts of every kind of event. docs/adding-an-event.md walks through one.
@Suite("Kinds of events")
struct EventKindTests {
    private static let stored = EventKind.allCases.filter { $0 != .unknown }

    /// An event of `kind` with every field.
    private static func sample(_ kind: EventKind) -> ProfileEvent {
        let date = AttributeValue.date(OccurredAt(Timestamp(rawValue: -5), utcOffsetMinutes: -330))
        let event = CustomEvent(name: "played", properties: [.init("at", date), .init("score", .double(1))])
        let changes = [
            AttributeChange("likes", .arrayAdd([.string("jazz")])), AttributeChange("visits", .increment(2)),
        ]
        let email = UserAttributeChange(.email, .string("ana@example.com"))
        let purchase = Purchase(product: "p", currency: "EUR", price: 9.5, quantity: 2, properties: event.properties)
        let (ana, alias) = (UserID.externalID("ana"), UserID.alias(label: "crm", name: "17"))
        return switch kind {
        case .userCreated: .userCreated([ana])
        case .userIdentified: .userIdentified([ana, alias])
        case .userChanged: .userChanged(previous: UserNumber(rawValue: 7))
        case .userErased: .userErased(actor: "a test", reason: "asked to")
        case .userLoggedOut: .userLoggedOut
        case .appRemoved: .appRemoved
        case .usersMerged:
            .usersMerged(
                Merge(
                    source: UserNumber(rawValue: 7), version: Version(rawValue: 3), identities: [alias],
                    released: [ana]))
        case .aliasAdded: .aliasAdded(alias)
        case .aliasRenamed: .aliasRenamed(from: alias, to: .alias(label: "crm", name: "18"))
        case .externalIDRenamed: .externalIDRenamed(from: ana, to: .externalID("anna"))
        case .externalIDRemoved: .externalIDRemoved(ana)
        case .customEventSaved: .customEventSaved(event)
        case .customAttributesSaved: .customAttributesSaved(changes)
        case .userAttributeSaved: .userAttributeSaved(email)
        case .customEventLogged: .customEventLogged(event)
        case .customAttributesChanged: .customAttributesChanged(changes)
        case .userAttributesChanged: .userAttributesChanged([UserAttributeChange(.country, .string("DE")), email])
        case .purchaseLogged: .purchaseLogged(purchase)
        case .customEventQueued: .queued(.customEventLogged(event))
        case .customAttributesQueued: .queued(.customAttributesChanged(changes))
        case .userAttributesQueued: .queued(.userAttributesChanged([email]))
        case .purchaseQueued: .queued(.purchaseLogged(purchase))
        case .appLaunched: .appLaunched(.background, lists: [.customEvents])
        case .appLeft: .appLeft
        case .sessionStarted: .sessionStarted
        case .sessionEnded: .sessionEnded(started: Position(rawValue: 4))
        case .pendingFlushed:
            .pendingFlushed(
                Flush(
                    launch: Position(rawValue: 4), chunk: 1, flushed: [Position(rawValue: 2)],
                    rejected: [.init(position: Position(rawValue: 3), reason: "a test")], isQueued: true))
        case .pendingDiscarded:
            .pendingDiscarded(Discard(positions: [Position(rawValue: 2)], actor: "a test", reason: "asked to"))
        case .dataSent: .dataSent([Position(rawValue: 2), Position(rawValue: 9)])
        case .deviceChanged: .deviceChanged(settings)
        case .eventVoided: .eventVoided(voiding)
        case .eventUnvoided: .eventUnvoided(voiding)
        case .rulesChanged:
            .rulesChanged([.init("attribute_policies", .object([.init("plan", .string("last_occurred"))]))])
        case .objectsLeftOut:
            .objectsLeftOut([ObjectRefusal(list: "events", index: 3, field: "time", reason: "a test")])
        case .messageSent, .messageNotSent, .pushReceived, .pushNotReceived, .pushCaptured, .pushExpanded, .pushOpened,
            .pushActionChosen, .pushDismissed, .pushProcessed, .inAppMessageShown, .inAppMessageWaiting,
            .inAppMessageIgnored, .inAppMessageDiscarded, .inAppMessageClicked, .inAppMessageClosed, .messageScheduled,
            .messageUnscheduled:
            .message(step(kind))
        case .unknown: .other(.unknown)
        }
    }

    private static let voiding = Voiding(
        target: Position(rawValue: 3), since: Version(rawValue: 2), actor: "a test", reason: "twice")

    private static var settings: DeviceSettings {
        var settings = DeviceSettings()
        settings.push.permission = .notAsked
        settings.push.isForceQuit = true
        settings.push.hasInstance = false
        settings.push.startup.isDelayed = true
        settings.push.startup.preparation = .tooLate
        settings.push.startup.automation = [.authorization]
        settings.push.startup.analytics = .drop
        settings.push.startup.subscription = .never
        var contentExtension = ContentExtension(categories: ["a", "b"])
        contentExtension.allowsInteraction = true
        contentExtension.pairs = [.init("cert_title"), .init("count", isNumber: true)]
        contentExtension.input = .phone
        contentExtension.language = .objectiveC
        settings.push.contentExtension = contentExtension
        settings.push.serverEvents = .objectiveC
        settings.inApp.guardsUser = false
        return settings
    }

    private static func step(_ kind: EventKind) -> MessageStep {
        guard case .message(let stage) = kind.role else { preconditionFailure("\(kind) is no step of a message") }
        var step = MessageStep(
            stage, of: "spring", by: .applePush, cause: Position(rawValue: 4), reason: "a test", dispatch: "d-1",
            action: "REGISTER",
            content: [.init("aps", .object([.init("alert", .string("Hello"))])), .init("cert_title", .string("Swift"))])
        step.screen = .validInput
        return step
    }

    @Test("Each kind has its own name and words, and is in record.proto under its number")
    func names() throws {
        let file = Repository.file("Sources/ProfileLog/Records/record.proto")
        let contract = try String(contentsOf: file, encoding: .utf8)
        for kind in Self.stored {
            #expect(Self.sample(kind).kind == kind)
            #expect(EventKind(name: kind.name) == kind)
            #expect(!kind.words.isEmpty)
            let name = kind.name.replacing(/ID|[A-Z]/) { "_" + $0.output }.uppercased()
            #expect(contract.contains("  \(name) = \(kind.rawValue);"), "\(name)")
        }
        #expect(Set(EventKind.allCases.map(\.words)).count == EventKind.allCases.count)
    }

    @Test("What is written to a record is read back", arguments: stored)
    func record(kind: EventKind) throws {
        let event = Self.sample(kind)
        var context = EventContext(
            source: .app, occurredAt: OccurredAt(Timestamp(rawValue: 3), utcOffsetMinutes: 60), process: "push",
            device: "phone", storage: .appGroup("group.a"), item: "i", app: "shop")
        context.replaces = Position(rawValue: 1)
        var names = NewNames(NameTable())
        var writer = WireWriter()
        RecordHeader.write(kind: kind.rawValue, user: 1, version: 2, recordedAt: 3, to: &writer)
        #expect(EventEncoder.write(event, context, names: &names, to: &writer))
        writer.littleEndian(crc32c(writer.bytes))
        let header = try #require(RecordHeader(writer.bytes))
        let read = try #require(RecordedEvent(header, position: .start, names: names.map))
        #expect(read.event == event)
        #expect(read.context == context)
        var last: UInt32 = 0
        var reader = WireReader(header.body)
        while let field = reader.field() {
            #expect(field.number >= last, "fields are in ascending order")
            last = field.number
            reader.skip(field.type)
        }
    }

    @Test("What is written as JSON is read back, if an import may bring it", arguments: stored)
    func json(kind: EventKind) throws {
        let event = Self.sample(kind)
        var json = JSONWriter()
        json.beginObject()
        json.member("kind", kind.name)
        json.member("user", "ana")
        EventJSON.writeContent(event, to: &json)
        json.endObject()
        _ = try JSON.parse(json.bytes)
        guard kind.isLogged || kind.isSaved else { return }
        let line = try json.bytes.withUnsafeBytes { try ImportLine($0, ImportTimes(now: .now())) }
        #expect(line.fact?.events == [event])
    }

    /// Checks that no `switch` over kinds has a `default`, with which a new kind would pass in silence.
    @Test("No switch over kinds of events has a default")
    func exhaustive() throws {
        let folder = Repository.file("Sources")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let kinds = Set(Self.stored.map(\.name))
        for path in paths where path.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (number, line) in lines.enumerated() {
                // The pattern alone would take seconds for all lines in a debug build.
                let code = line.utf8.drop { $0 == UInt8(ascii: " ") }
                guard code.starts(with: "default:".utf8) || code.starts(with: "case _".utf8),
                    let match = line.firstMatch(of: /^( *)(default:|case _ ?[:w])/)
                else { continue }
                let start = lines[..<number].lastIndex {
                    $0.hasPrefix(match.1) && !$0.hasPrefix("\(match.1) ") && $0.contains("switch ")
                }
                guard let start else { continue }
                let labels = lines[start..<number]
                    .filter { $0.hasPrefix("\(match.1)case ") || $0.hasPrefix("\(match.1)    .") }
                    .map { $0.prefix { $0 != ":" } }
                let named = labels.flatMap { $0.matches(of: /\.([a-zA-Z]+)/) }.filter { kinds.contains(String($0.1)) }
                let isOfRole = lines[start].contains("role")
                #expect(named.isEmpty && !isOfRole, "\(path):\(number + 1)")
            }
        }
    }
}
