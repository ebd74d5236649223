/// Bytes of states that are `Codable`: equal for equal states, whatever the order of their sets and dictionaries.
///
/// ```
/// 0x01 | value
/// value: 0 null | 1 false | 2 true | 3 zigzag varint | 4 varint | 5 double, 8 bytes | 6 text
///      | 7 count, values | 8 count, (text, value) by ascending text
/// text: length, UTF-8
/// ```
///
/// Costs some microseconds a state, once for each snapshot. Write your own `encode` for a state of many kilobytes.
enum StateCoding {
    private static let form: UInt8 = 1

    static func encode(_ state: some Encodable) throws -> [UInt8] {
        var writer = WireWriter()
        writer.byte(form)
        try CodedValue(state, at: []).write(to: &writer)
        return Array(writer.bytes)
    }

    static func decode<State: Decodable>(_: State.Type, _ bytes: UnsafeRawBufferPointer) -> State? {
        guard bytes.first == form else { return nil }
        var reader = WireReader(bytes.slice(1..<bytes.count))
        guard let value = CodedValue(&reader), reader.isAtEnd, !reader.isBad else { return nil }
        return try? value.decoded(State.self, at: [])
    }
}

extension Projection where State: Codable & Equatable {
    /// The state in its `Codable` form. A state whose own `encode(to:)` throws ends the program.
    public static func encode(_ state: State) -> [UInt8] {
        do {
            return try StateCoding.encode(state)
        } catch {
            preconditionFailure("The state of the projection \(name) cannot be encoded: \(error)")
        }
    }

    /// The state that `encode` wrote; nil if the bytes are invalid.
    public static func decode(_ bytes: UnsafeRawBufferPointer) -> State? { StateCoding.decode(State.self, bytes) }
}

/// A value as it is coded.
private enum CodedValue {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(Double)
    case text(String)
    case array([CodedValue])
    case keyed([Name: CodedValue])

    /// Deeper values are refused.
    static let maxDepth = 256

    init<Value: Encodable>(_ value: Value, at path: [any CodingKey]) throws {
        if let scalar = value as? any Scalar {
            self = scalar.coded
        } else if let collection = value as? any UnorderedCollection {
            self = try collection.coded(at: path)
        } else {
            let place = Place()
            try value.encode(to: StateEncoder(place: place, codingPath: path))
            self = place.value
        }
    }

    var bytes: [UInt8] {
        var writer = WireWriter()
        write(to: &writer)
        return Array(writer.bytes)
    }

    func write(to writer: inout WireWriter) {
        switch self {
        case .null: writer.byte(0)
        case .bool(let bool): writer.byte(bool ? 2 : 1)
        case .int(let int):
            writer.byte(3)
            writer.varint(UInt64(bitPattern: int << 1 ^ int >> 63))
        case .uint(let uint):
            writer.byte(4)
            writer.varint(uint)
        case .double(let double):
            writer.byte(5)
            writer.littleEndian(double.isNaN ? Double.nan.bitPattern : double.bitPattern)
        case .text(let text):
            writer.byte(6)
            writer.text(text)
        case .array(let values):
            writer.byte(7)
            writer.varint(UInt64(values.count))
            for value in values { value.write(to: &writer) }
        case .keyed(let members):
            writer.byte(8)
            writer.varint(UInt64(members.count))
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.text(key.text)
                value.write(to: &writer)
            }
        }
    }

    /// Returns nil for invalid bytes.
    init?(_ reader: inout WireReader, depth: Int = 0) {
        guard depth < Self.maxDepth, !reader.isAtEnd, !reader.isBad else { return nil }
        switch reader.varint() {
        case 0: self = .null
        case 1: self = .bool(false)
        case 2: self = .bool(true)
        case 3:
            let bits = reader.varint()
            self = .int(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1))
        case 4: self = .uint(reader.varint())
        case 5: self = .double(reader.double())
        case 6: self = .text(reader.text())
        case 7:
            var values: [CodedValue] = []
            for _ in 0..<reader.count() {
                guard let value = CodedValue(&reader, depth: depth + 1) else { return nil }
                values.append(value)
            }
            self = .array(values)
        case 8:
            var members: [Name: CodedValue] = [:]
            for _ in 0..<reader.count() {
                let key = Name(reader.text())
                guard let value = CodedValue(&reader, depth: depth + 1) else { return nil }
                members[key] = value
            }
            self = .keyed(members)
        default: return nil
        }
        if reader.isBad { return nil }
    }

    func decoded<Value: Decodable>(_: Value.Type, at path: [any CodingKey]) throws -> Value {
        guard let scalar = Value.self as? any Scalar.Type else {
            return try Value(from: StateDecoder(value: self, codingPath: path))
        }
        guard let value = scalar.init(self) as? Value else { throw mismatch(Value.self, path) }
        return value
    }

    func mismatch(_ type: Any.Type, _ path: [any CodingKey]) -> DecodingError {
        .typeMismatch(type, .init(codingPath: path, debugDescription: "the state has another form"))
    }
}

// MARK: - Values that code themselves

/// A value without parts.
private protocol Scalar {
    var coded: CodedValue { get }
    init?(_ value: CodedValue)
}

extension Scalar where Self: FixedWidthInteger {
    var coded: CodedValue {
        Self.isSigned ? .int(Int64(self)) : .uint(UInt64(self))
    }
    init?(_ value: CodedValue) {
        switch value {
        case .int(let int): self.init(exactly: int)
        case .uint(let uint): self.init(exactly: uint)
        default: return nil
        }
    }
}

extension Int: Scalar {}
extension Int8: Scalar {}
extension Int16: Scalar {}
extension Int32: Scalar {}
extension Int64: Scalar {}
extension UInt: Scalar {}
extension UInt8: Scalar {}
extension UInt16: Scalar {}
extension UInt32: Scalar {}
extension UInt64: Scalar {}

extension Bool: Scalar {
    fileprivate var coded: CodedValue { .bool(self) }
    fileprivate init?(_ value: CodedValue) {
        guard case .bool(let bool) = value else { return nil }
        self = bool
    }
}

extension Double: Scalar {
    fileprivate var coded: CodedValue { .double(self) }
    fileprivate init?(_ value: CodedValue) {
        guard case .double(let double) = value else { return nil }
        self = double
    }
}

extension Float: Scalar {
    fileprivate var coded: CodedValue { .double(Double(self)) }
    fileprivate init?(_ value: CodedValue) {
        guard case .double(let double) = value else { return nil }
        self = Float(double)
    }
}

extension String: Scalar {
    fileprivate var coded: CodedValue { .text(self) }
    fileprivate init?(_ value: CodedValue) {
        guard case .text(let text) = value else { return nil }
        self = text
    }
}

/// A collection whose order says nothing: the standard library would code it in the order of its hashes.
private protocol UnorderedCollection {
    func coded(at path: [any CodingKey]) throws -> CodedValue
}

extension Set: UnorderedCollection where Element: Encodable {
    fileprivate func coded(at path: [any CodingKey]) throws -> CodedValue {
        let values = try map { element in
            let value = try CodedValue(element, at: path)
            return (bytes: value.bytes, value: value)
        }
        return .array(values.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map(\.value))
    }
}

extension Dictionary: UnorderedCollection where Key: Encodable, Value: Encodable {
    /// As `Dictionary.init(from:)` reads it.
    fileprivate func coded(at path: [any CodingKey]) throws -> CodedValue {
        func text(_ key: Key) -> String? {
            switch key {
            case let key as String: key
            case let key as Int: "\(key)"
            case let key as any CodingKeyRepresentable: key.codingKey.stringValue
            default: nil
            }
        }
        if Key.self is String.Type || Key.self is Int.Type || Key.self is any CodingKeyRepresentable.Type {
            var members: [Name: CodedValue] = [:]
            for (key, value) in self {
                guard let text = text(key) else { continue }
                members[Name(text)] = try CodedValue(value, at: path)
            }
            return .keyed(members)
        }
        let pairs = try map { key, value in
            let key = try CodedValue(key, at: path)
            return (bytes: key.bytes, key: key, value: try CodedValue(value, at: path))
        }
        return .array(
            pairs.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.flatMap { [$0.key, $0.value] })
    }
}

// MARK: - Encoding

/// The place of a value that is being encoded.
private final class Place {
    enum Content {
        case value(CodedValue)
        case array([Place])
        case keyed([Name: Place])
    }

    var content = Content.value(.keyed([:]))

    var value: CodedValue {
        switch content {
        case .value(let value): value
        case .array(let places): .array(places.map(\.value))
        case .keyed(let places): .keyed(places.mapValues(\.value))
        }
    }

    func member(_ key: any CodingKey) -> Place {
        let place = Place()
        var members: [Name: Place] = [:]
        if case .keyed(let known) = content { members = known }
        content = .array([])
        members[Name(key.stringValue)] = place
        content = .keyed(members)
        return place
    }

    func next() -> Place {
        let place = Place()
        var items: [Place] = []
        if case .array(let known) = content { items = known }
        content = .array([])
        items.append(place)
        content = .array(items)
        return place
    }

    var count: Int { if case .array(let items) = content { items.count } else { 0 } }
}

private struct StateEncoder: Encoder, SingleValueEncodingContainer {
    let place: Place
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .keyed = place.content {} else { place.content = .keyed([:]) }
        return KeyedEncodingContainer(KeyedEncoding<Key>(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = place.content {} else { place.content = .array([]) }
        return UnkeyedEncoding(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { place.content = .value(.null) }
    func encode<Value: Encodable>(_ value: Value) throws {
        place.content = .value(try CodedValue(value, at: codingPath))
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: Place
    let codingPath: [any CodingKey]

    private func encoder(_ key: any CodingKey) -> StateEncoder {
        StateEncoder(place: place.member(key), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { encoder(key).encodeNil() }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder(key).encode(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(IndexKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let place: Place
    let codingPath: [any CodingKey]
    var count: Int { place.count }

    private func encoder() -> StateEncoder {
        let key = IndexKey(intValue: count)
        return StateEncoder(place: place.next(), codingPath: codingPath + [key])
    }

    func encodeNil() { encoder().encodeNil() }
    func encode<Value: Encodable>(_ value: Value) throws { try encoder().encode(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
}

private struct IndexKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

// MARK: - Decoding

private struct StateDecoder: Decoder, SingleValueDecodingContainer {
    let value: CodedValue
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy _: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .keyed(let members) = value else { throw value.mismatch([String: Any].self, codingPath) }
        return KeyedDecodingContainer(KeyedDecoding<Key>(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        // A value that encoded no item has made no array.
        if case .keyed(let members) = value, members.isEmpty {
            return UnkeyedDecoding(items: [], codingPath: codingPath)
        }
        guard case .array(let items) = value else { throw value.mismatch([Any].self, codingPath) }
        return UnkeyedDecoding(items: items, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { if case .null = value { true } else { false } }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value.decoded(type, at: codingPath) }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [Name: CodedValue]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.keys.sorted().compactMap { Key(stringValue: $0.text) } }

    private func decoder(_ key: any CodingKey) throws -> StateDecoder {
        guard let value = members[Name(key.stringValue)] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: codingPath, debugDescription: "the state has no \(key.stringValue)"))
        }
        return StateDecoder(value: value, codingPath: codingPath + [key])
    }

    func contains(_ key: Key) -> Bool { members[Name(key.stringValue)] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).decodeNil() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).decode(type)
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { try decoder(IndexKey(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let items: [CodedValue]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0
    var count: Int? { items.count }
    var isAtEnd: Bool { currentIndex >= items.count }

    init(items: [CodedValue], codingPath: [any CodingKey]) { (self.items, self.codingPath) = (items, codingPath) }

    private func decoder() throws -> StateDecoder {
        let key = IndexKey(intValue: currentIndex)
        if isAtEnd {
            throw DecodingError.valueNotFound(
                Any.self, .init(codingPath: codingPath + [key], debugDescription: "the state has no more items"))
        }
        return StateDecoder(value: items[currentIndex], codingPath: codingPath + [key])
    }

    private mutating func next<Result>(_ body: (StateDecoder) throws -> Result) throws -> Result {
        let result = try body(decoder())
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        let isNil = try decoder().decodeNil()
        if isNil { currentIndex += 1 }
        return isNil
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next { try $0.decode(type) } }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested>
    {
        try next { try $0.container(keyedBy: type) }
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }
    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}
