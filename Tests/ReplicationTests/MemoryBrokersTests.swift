import ProfileLogReplication
import TestSupport
import Testing

@Suite("The brokers in memory answer as JetStream does")
struct MemoryBrokersTests {
    private let brokers = MemoryBrokers()

    private func publish(_ stream: MemoryStream, _ message: UInt8, after last: UInt64) -> PublishAnswer {
        stream.publish([message], after: last, timeout: .seconds(1))
    }

    private func isStored(_ answer: PublishAnswer) -> Bool { if case .stored = answer { true } else { false } }

    @Test("A message is stored only after the sequence that its publish expects")
    func condition() throws {
        let stream = brokers.connect("a")
        #expect(!isStored(publish(stream, 1, after: 0)))
        try stream.create(first: 1)
        #expect(publish(stream, 1, after: 0) == .stored(sequence: 1))
        for last in [0, 2, 3] as [UInt64] { #expect(!isStored(publish(stream, 2, after: last))) }
        #expect(publish(stream, 2, after: 1) == .stored(sequence: 2))
        #expect(try stream.messages(from: 1, count: 5).map(\.bytes) == [[1], [2]])
        #expect(try stream.messages(from: 3, count: 5) == [])
    }

    @Test("A read below a purged stream begins at the first message that is left")
    func purge() throws {
        let stream = brokers.connect("a")
        try stream.create(first: 1)
        for message in 1...5 { #expect(isStored(publish(stream, UInt8(message), after: UInt64(message) - 1))) }
        brokers.purge(before: 4)
        #expect(try stream.messages(from: 1, count: 1).map(\.sequence) == [4])
        brokers.purge(before: 9)
        #expect(try stream.messages(from: 1, count: 1) == [])
        let state = try stream.state()
        #expect(state.first == 6 && state.last == 5)
        #expect(publish(stream, 6, after: 5) == .stored(sequence: 6))
    }

    @Test("A stream that is made again has another time, and the sequences that it is given")
    func recreated() throws {
        let stream = brokers.connect("a")
        try stream.create(first: 1)
        let created = try stream.state().created
        try stream.create(first: 7)
        #expect(try stream.state().created == created && stream.state().last == 0)
        try stream.delete()
        #expect(throws: StreamError.self) { try stream.state() }
        try stream.create(first: 7)
        #expect(try stream.state().created != created && stream.state().last == 6)
        #expect(publish(stream, 1, after: 6) == .stored(sequence: 7))
    }

    @Test("A message without a majority takes its place until it is stored or dropped", arguments: [false, true])
    func limbo(isDropped: Bool) throws {
        let (stream, other) = (brokers.connect("a"), brokers.connect("b"))
        try stream.create(first: 1)
        brokers.script(.limbo)
        #expect(!isStored(publish(stream, 1, after: 0)))
        #expect(!isStored(publish(other, 2, after: 0)))
        #expect(try stream.messages(from: 1, count: 1) == [])
        if isDropped { brokers.dropProposals() } else { brokers.release() }
        #expect(isStored(publish(other, 2, after: 0)) == isDropped)
        #expect(brokers.message(at: 1) == [isDropped ? 2 : 1])
    }

    @Test("With two messages in flight the second one is stored after another node's")
    func hazard() throws {
        let (a, b) = (brokers.connect("a"), brokers.connect("b"))
        try a.create(first: 1)
        brokers.script(.delayed, .none, .none)
        #expect(!isStored(publish(a, 1, after: 0)))
        #expect(publish(b, 2, after: 0) == .stored(sequence: 1))
        #expect(publish(a, 3, after: 1) == .stored(sequence: 2))
        brokers.release()
        #expect(brokers.last == 2 && brokers.message(at: 1) == [2] && brokers.message(at: 2) == [3])
    }

    @Test("A node that is cut off reaches nothing, and an isolated broker answers with what it had")
    func unreachable() throws {
        let (a, b) = (brokers.connect("a"), brokers.connect("b"))
        try a.create(first: 1)
        a.isCut = true
        #expect(!isStored(publish(a, 1, after: 0)) && a.broker == nil)
        #expect(throws: StreamError.self) { try a.messages(from: 1, count: 1) }
        a.isCut = false
        brokers.isolate(broker: try #require(a.brokerNumber))
        #expect(isStored(publish(b, 1, after: 0)))
        #expect(!isStored(publish(a, 2, after: 1)))
        #expect(try a.messages(from: 1, count: 1) == [] && a.state().last == 0)
        a.changeBroker()
        #expect(try a.messages(from: 1, count: 1).map(\.bytes) == [[1]])
        #expect(isStored(publish(a, 2, after: 1)))
    }
}
