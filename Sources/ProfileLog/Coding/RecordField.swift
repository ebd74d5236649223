/// The field numbers of record.proto. Never reused.
enum RecordField {
    static let append: UInt32 = 5
    static let occurredAt: UInt32 = 6
    static let source: UInt32 = 7
    static let name: UInt32 = 8
    static let entries: UInt32 = 9
    static let utcOffset: UInt32 = 10
    static let process: UInt32 = 11
    static let device: UInt32 = 12
    static let storage: UInt32 = 13
    static let launch: UInt32 = 14
    static let emptyProperties: UInt32 = 15
    static let launchKind: UInt32 = 16
    static let flushed: UInt32 = 17
    static let rejected: UInt32 = 18
    static let discarded: UInt32 = 19
    static let reason: UInt32 = 20
    static let actor: UInt32 = 21
    static let identities: UInt32 = 22
    static let otherUser: UInt32 = 23
    static let otherVersion: UInt32 = 24
    static let targetVersion: UInt32 = 25
    static let erased: UInt32 = 26
    static let currency: UInt32 = 27
    static let price: UInt32 = 28
    static let quantity: UInt32 = 29
    static let item: UInt32 = 30
    static let app: UInt32 = 31
    static let chunk: UInt32 = 32

    enum Value {
        static let name: UInt32 = 1
        static let bool: UInt32 = 2
        static let int: UInt32 = 3
        static let double: UInt32 = 4
        static let string: UInt32 = 5
        static let date: UInt32 = 6
        static let array: UInt32 = 7
        static let object: UInt32 = 8
        static let null: UInt32 = 9
        static let operation: UInt32 = 10
        static let key: UInt32 = 11
    }

    enum Operation: UInt64 {
        case set = 0
        case unset = 1
        case increment = 2
        case arrayAdd = 3
        case arrayRemove = 4
        case objectMerge = 5
        case objectsAdd = 6
        case objectsUpdate = 7
        case objectsUpdateMerging = 8
        case objectsRemove = 9
    }
}
