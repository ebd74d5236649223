import ProfileLog

/// Minutes that a user has played: the sum of the property `minutes` of their events "played song".
enum MinutesPlayed: Projection {
    static let name = "minutes-played"
    static let revision: UInt32 = 1
    static var initial: Int64 { 0 }

    static func apply(_ event: borrowing EventView, to minutes: inout Int64) {
        // The kind and the name are read from the record's bytes; only what matters is decoded.
        guard event.kind == .customEventLogged, event.name == "played song",
            case .customEventLogged(let song) = event.recorded()?.event
        else { return }
        for property in song.properties ?? [] {
            if property.key == "minutes", case .int(let count) = property.value { minutes &+= count }
        }
    }

    static func merge(_ source: Int64, into target: inout Int64) { target &+= source }

    static func encode(_ minutes: Int64) -> [UInt8] { withUnsafeBytes(of: minutes.littleEndian) { Array($0) } }

    static func decode(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        bytes.count == 8 ? Int64(littleEndian: bytes.loadUnaligned(as: Int64.self)) : nil
    }
}
