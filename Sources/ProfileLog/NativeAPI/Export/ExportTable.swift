internal import ProfileLogRequests

/// The columns of an export for analysis. They are always the same, whatever the store holds: what differs from row to
/// row is JSON in one of them. docs/export.md lists them.
package struct ExportTable: Sendable {
    package enum Kind: String, Sendable, CaseIterable { case events, profiles }

    package let kind: Kind
    package let columns: [Column]

    /// One column, and where its value is in a row.
    package struct Column: Sendable {
        package let name: String
        package let type: ColumnType
        fileprivate let path: [Name]
    }

    /// The type of a column's values that are not null.
    package enum ColumnType: Sendable {
        case integer, real, text
        /// A truth value; in SQLite 0 or 1.
        case flag
        /// A number, a truth value or text; an array or an object as JSON text.
        case any
        /// An array or an object as JSON text.
        case json
        /// A row's other members as a JSON object; null if there are none.
        case others
    }

    package var name: String { kind.rawValue }

    package init(_ kind: Kind) {
        self.kind = kind
        columns = kind == .events ? Self.events : Self.profiles
    }

    /// Reads the parameter `what`.
    init(_ what: String) throws {
        guard let kind = Kind(rawValue: what) else {
            throw APIError.invalid("what", "must be events or profiles")
        }
        self.init(kind)
    }

    /// The values of the columns in `row`, an object of `GET /v1/export`: each is null, a number, a truth value or
    /// text.
    package func cells(of row: AttributeValue) -> [AttributeValue] {
        columns.map { column in
            if column.type == .others { return others(in: row) }
            var value: AttributeValue? = row
            for key in column.path { value = value?[key] }
            switch value {
            case nil, .null: return .null
            case .array(let elements)? where elements.isEmpty: return .null
            case .object(let members)? where members.isEmpty: return .null
            case let value?: return value.cell
            }
        }
    }

    private func others(in row: AttributeValue) -> AttributeValue {
        guard case .object(let members) = row else { return .null }
        let known = Set(columns.compactMap(\.path.first))
        let others = members.filter { !known.contains($0.key) }
        return others.isEmpty ? .null : AttributeValue.object(others).cell
    }

    // MARK: - Columns

    private static func column(_ name: String, _ type: ColumnType, _ path: Name...) -> Column {
        Column(name: name, type: type, path: path.isEmpty ? [Name(name)] : path)
    }

    private static func type(_ attribute: StandardAttribute) -> ColumnType {
        switch attribute {
        case .emailOpenTrackingDisabled, .emailClickTrackingDisabled: .flag
        default: attribute.isNested ? .json : .text
        }
    }

    private static let events: [Column] = [
        column("position", .integer), column("recorded_at", .text), column("occurred_at", .text),
        column("kind", .text), column("user", .text), column("user_number", .integer),
        column("profile_number", .integer), column("version", .integer), column("name", .text),
        column("product", .text), column("price", .real), column("quantity", .integer), column("currency", .text),
        column("properties", .json), column("attributes", .json), column("attribute", .text), column("value", .any),
        column("source", .text), column("app", .text), column("device", .text), column("process", .text),
        column("storage", .text), column("voided_by", .integer), column("others", .others, ""),
    ]

    private static let profiles: [Column] =
        [
            column("number", .integer, "user", "number"), column("user", .text, "user", "id"),
            column("braze_id", .text), column("ids", .json), column("version", .integer),
            column("position", .integer), column("created_at", .text), column("first_seen", .text),
            column("last_seen", .text),
        ]
        + StandardAttribute.allCases.map { attribute in
            column(attribute.name, type(attribute), "attributes", Name(attribute.name))
        } + [
            column("custom_attributes", .json), column("traits", .json), column("custom_events", .json),
            column("purchases", .json), column("orders", .json), column("total_revenue", .json),
            column("launches", .integer, "launches", "count"),
            column("last_launch", .text, "launches", "last"), column("pending", .integer, "pending", "total"),
        ]
}

extension AttributeValue {
    /// As the value of a cell: arrays and objects as JSON text, a time as the text of the time.
    fileprivate var cell: AttributeValue {
        switch self {
        case .null, .bool, .int, .double, .string: self
        case .date(let date): .string(date.timestamp.rfc3339(utcOffsetMinutes: date.utcOffsetMinutes))
        case .array: .string(jsonText)
        case .object(let members):
            // A time, as JSON of this API writes it.
            if members.count == 1, members[0].key == "$time", case .string = members[0].value {
                members[0].value
            } else {
                .string(jsonText)
            }
        }
    }

    private var jsonText: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }
}
