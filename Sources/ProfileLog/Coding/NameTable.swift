/// The numbers of event, attribute, property, process and app-group names: table `names` in memory.
///
/// It only grows, and every process that has the store open holds its own copy, brought up to date at the start of a transaction.
final class NameTable: Sendable {
    private let map = Guarded(NameMap())

    /// How many names are known; they are numbered from 1.
    var count: UInt32 { map.withReading { $0.count } }

    /// Adds the names numbered `number` and on, as read from the store.
    func add(_ name: UnsafeRawBufferPointer, number: UInt32) {
        map.withWriting { map in
            // Two transactions may bring the same news.
            if number == map.count + 1 { map.add(name) }
        }
    }

    /// The name with this number, or nil.
    func name(_ number: UInt32) -> Name? { map.withReading { $0.name(number) } }

    /// The number of `name`, or nil.
    func number(_ name: Name) -> UInt32? { map.withReading { $0.number(name) } }

    /// All names as they are now, for many look-ups without the lock.
    var current: NameMap { map.withReading { copy $0 } }
}

/// Names by number and numbers by name.
struct NameMap {
    private var table = ByteStringTable()
    private var names: [Name] = []

    var count: UInt32 { UInt32(names.count) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        table.add(bytes)
        names.append(Name(String(decoding: bytes, as: UTF8.self)))
    }

    func name(_ number: UInt32) -> Name? {
        number > 0 && number <= names.count ? names[Int(number) - 1] : nil
    }

    func number(_ name: Name) -> UInt32? {
        name.text.withRawUTF8 { table.find($0) }.map { UInt32($0) + 1 }
    }
}

/// Gives numbers to names while events are encoded.
protocol NameNumbering {
    /// The number of `name`, or nil if it has none (yet).
    mutating func number(_ name: Name) -> UInt32?
}

extension NameMap: NameNumbering {}

/// Numbers for a commit in the making: those of the table, and new ones behind them.
struct NewNames: NameNumbering {
    private let table: NameTable
    private let known: UInt32
    private var numbers: [Name: UInt32] = [:]
    /// The names that the commit adds, in the order of their numbers from `firstNumber`.
    private(set) var added: [Name] = []

    init(_ table: NameTable) {
        self.table = table
        known = table.count
    }

    var firstNumber: UInt32 { known + 1 }

    mutating func number(_ name: Name) -> UInt32? {
        if let number = table.number(name), number <= known { return number }
        if let number = numbers[name] { return number }
        added.append(name)
        let number = known + UInt32(added.count)
        numbers[name] = number
        return number
    }

    /// The name with this number, in the table or added; nil if there is none.
    func name(_ number: UInt32) -> Name? {
        if number <= known { return table.name(number) }
        return number - known <= added.count ? added[Int(number - known) - 1] : nil
    }

    /// Forgets the names beyond the first `count` added ones: an append that was refused leaves nothing.
    mutating func truncate(to count: Int) {
        while added.count > count { numbers[added.removeLast()] = nil }
    }
}
