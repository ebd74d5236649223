internal import ProfileLogRequests

/// The body of `/users/export/segment`: the segment, the fields and the format of the file (spec/rest-api.md 2.9).
struct SegmentExportRequest {
    let segment: Segment
    let fields: Set<ExportField>
    /// The custom attributes that are exported if `fields` does not have all of them; nil if none were named.
    let customAttributes: Set<Name>?
    let format: Format
    /// Tells whether the request names an address to be told when the file is there.
    let hasCallback: Bool

    enum Format: String, CaseIterable {
        case zip
        case gzip

        /// The ending of the file's name.
        var ending: String { self == .zip ? "zip" : "gz" }
        var mediaType: String { self == .zip ? "application/zip" : "application/gzip" }
    }

    /// Tells whether a line may have the apps and devices.
    var wantsUsage: Bool { !fields.isDisjoint(with: [.apps, .devices]) }

    private static let mostCustomAttributes = 500

    init(_ bytes: [UInt8], _ workspace: Workspace) throws {
        let body = try BodyObject.read(bytes)
        guard let segment = body.present("segment_id")?.asText.flatMap({ workspace.segment($0) }) else {
            throw APIError.unknownSegment
        }
        self.segment = segment
        guard let fields = try Self.texts(body, "fields_to_export"), !fields.isEmpty else {
            throw APIError.invalid(
                "fields_to_export", "is required, and must name at least one field",
                remedy: "The fields are \(ExportField.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        self.fields = Set(fields.compactMap(ExportField.init))
        customAttributes = try Self.texts(body, "custom_attributes_to_export").map { Set($0.map { Name($0) }) }
        guard customAttributes?.count ?? 0 <= Self.mostCustomAttributes else {
            throw APIError.invalid(
                "custom_attributes_to_export", "has more than \(Self.mostCustomAttributes) names",
                remedy: "Export all with `custom_attributes` in `fields_to_export`, or send several requests.")
        }
        format = try body.member("output_format", "must be zip or gzip") { $0.asText.flatMap(Format.init) } ?? .zip
        hasCallback = body.present("callback_endpoint") != nil
    }

    private static func texts(_ body: AttributeValue, _ key: Name) throws -> [String]? {
        try body.member(key, "must be an array of texts") { value in
            let texts = value.asArray?.compactMap(\.asText)
            return texts?.count == value.asArray?.count ? texts : nil
        }
    }
}
