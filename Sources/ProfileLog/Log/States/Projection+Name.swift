extension Projection {
    /// Refuses a name that does not fit into a key, or that the caches use themselves, and a projection without scope.
    package static func checkName() throws(AppendError) {
        let name = self.name
        guard self is any UserProjection.Type || self is any StoreProjection.Type || self is any DeviceProjection.Type
        else {
            throw .invalid(
                place: "The projection \(name)", reason: "is folded neither by user, by device nor over the store",
                remedy: "Let it conform to UserProjection, DeviceProjection or StoreProjection.")
        }
        let bytes = name.utf8
        if !(1...64).contains(bytes.count) {
            throw .invalid(place: "The projection's name \(name)", reason: "must be 1 to 64 bytes, not \(bytes.count)")
        }
        if bytes.contains(0) {
            throw .invalid(place: "A projection's name", reason: "must not contain the character U+0000")
        }
        let isOurs =
            Generations.ownKeys.contains(Array(bytes))
            || name == "pending" || builtIn.contains { $0 != self && $0.name.hasSameBytes(as: name) }
        if isOurs {
            throw .invalid(place: "The projection's name \(name)", reason: "is one of the log's own; take another one")
        }
    }
}

/// The projections of the library.
private let builtIn: [any Projection.Type] = [
    ProfileProjection.self, UsageProjection.self, CatalogueProjection.self,
]

extension [any Projection.Type] {
    /// Refuses invalid names, and two projections with one name, which would use each other's states.
    func checkNames() throws(AppendError) {
        var names: Set<Name> = []
        for projection in self {
            try projection.checkName()
            if names.insert(Name(projection.name)).inserted { continue }
            throw .invalid(place: "The projection's name \(projection.name)", reason: "is that of two projections")
        }
    }
}

extension Projection {
    /// The projection as it is stored: one by device as a state over the whole store.
    static var stored: any Projection.Type { scope == .device ? ByDevice<Self>.self : self }
}
