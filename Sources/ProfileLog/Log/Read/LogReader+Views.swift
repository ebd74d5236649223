extension LogReader {
    /// `state`, which must be of this log, with its names.
    package func named(_ state: ProfileState) -> Profile { Profile(state, names.current) }

    /// `state`, which must be of this log, with its names.
    package func catalogueView(_ state: CatalogueState) -> CatalogueView {
        CatalogueView(
            events: counted(state.events),
            attributes: state.attributes.compactMap { number, use in
                names.name(number).map { name in
                    let counts = zip(AttributeType.allCases, use.counts).filter { $0.1 > 0 }
                    return .init(
                        name: name, firstType: use.first, counts: Dictionary(uniqueKeysWithValues: counts),
                        longestArray: use.longestArray)
                }
            }.sorted { $0.name < $1.name },
            products: counted(state.products))
    }

    /// The type of the first value that a custom attribute ever had, by `state`, which must be of this log; nil if it
    /// had none.
    package func firstType(of attribute: Name, by state: CatalogueState) -> AttributeType? {
        names.number(attribute).flatMap { state.attributes[$0]?.first }
    }

    private func counted(_ numbered: [UInt32: ProfileState.Occurrences]) -> [Profile.Counted] {
        numbered.compactMap { number, occurrences in
            names.name(number).map { .init(name: $0, occurrences: occurrences) }
        }.sorted { $0.name < $1.name }
    }
}

extension Profile {
    /// `state` with the names that its numbers have in `names`.
    package init(_ state: ProfileState, _ names: NameMap) {
        let fields = state.fields.fields.compactMap { field -> (isCustom: Bool, field: Field)? in
            guard let value = state.fields.value(field.key), let name = names.name(field.key) else { return nil }
            return (
                field.key.isCustom,
                .init(
                    name: name, value: value, position: Position(rawValue: field.position),
                    setAt: Timestamp(rawValue: field.at))
            )
        }
        self.init(
            version: state.version,
            attributes: fields.filter { !$0.isCustom }.map(\.field).sorted { $0.name < $1.name },
            customAttributes: fields.filter(\.isCustom).map(\.field).sorted { $0.name < $1.name },
            customEvents: state.events.compactMap { event in
                names.name(event.name).map { .init(name: $0, occurrences: event.occurrences) }
            }.sorted { $0.name < $1.name },
            purchases: state.purchases.compactMap { purchase in
                names.name(purchase.product).map {
                    .init(name: $0, occurrences: purchase.occurrences, paid: purchase.revenue)
                }
            }.sorted { $0.name < $1.name },
            pending: state.pending.map { entry in
                .init(
                    position: Position(rawValue: entry.position), kind: entry.list, device: entry.device.text,
                    storage: entry.storage.storage(names.name), savedAt: Timestamp(rawValue: entry.savedAt),
                    isQueued: entry.isQueued)
            })
    }
}

extension NameMap {
    /// The name of an attribute; nil if it has none.
    fileprivate func name(_ key: FieldKey) -> Name? {
        key.isCustom ? name(key.customName) : key.standard.map { Name($0.name) }
    }
}
