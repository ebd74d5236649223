internal import Foundation
internal import ProfileLogRequests

/// The requests below `/users/export`, and `/exports`.
struct ExportEndpoints {
    let api: BrazeAPI

    private var log: EventLog { api.log }

    /// `POST /users/export/ids`: profiles as they are now, everything acknowledged included.
    func exportUsers(_ request: APIRequest) throws -> APIAnswer {
        let misspelt = try Self.misspelt(request)
        let request = try ExportRequest(request.body, api.workspace.limits)
        var seen: Set<UserNumber> = []
        var unknown: [String] = []
        return try api.store.read { log in
            try APIAnswer.ok(status: 201) { json in
                try json.array("users", request.identifiers) { json, identifier in
                    let users = try users(identifier, log)
                    if users.isEmpty { unknown.append(identifier.shown) }
                    for user in users where seen.insert(user.number).inserted {
                        try ExportedProfile(user, log, api).write(request.fields, to: &json)
                    }
                }
                json.member("message", "success")
                if !unknown.isEmpty {
                    json.array("invalid_user_ids", unknown) { $0.value($1) }
                }
                json.dropped([], misspelt)
                if seen.isEmpty { json.member("note", "No user is known by any of these identifiers.") }
            }
        }
    }

    /// An address and a device may have several users, anything else at most one.
    private func users(_ identifier: ExportRequest.Identifier, _ log: LogReader) throws -> [UserInfo] {
        let users = try identifier.id.map { try log.addresses.users(sharing: $0) } ?? []
        guard let device = identifier.device else { return users }
        return try users + usersWithPushToken(on: device, log)
    }

    private func usersWithPushToken(on device: Name, _ log: LogReader) throws -> [UserInfo] {
        try api.pushTokens.catchUp()
        let users = try api.pushTokens.withState { $0.users(on: device) }
        return try users.compactMap { try log.users.find(log.users.canonicalUser(of: $0)) }.filter { !$0.isErased }
    }

    /// Returns the misspelt members and names of fields. Names of fields that are near to none are ignored, as by
    /// Braze.
    private static func misspelt(_ request: APIRequest) throws -> [Misspelling] {
        let body = try BodyObject.read(request.body)
        return request.misspelt(in: body)
            + Misspelling.names(in: body, "fields_to_export", among: ExportField.allCases.map(\.rawValue))
    }

    // MARK: - `POST /users/export/segment`: the answer comes when the file is complete

    func exportSegment(_ request: APIRequest) async throws -> APIAnswer {
        let asked = try SegmentExportRequest(request.body, api.workspace)
        let misspelt = try Self.misspelt(request)
        let day = log.options.now().rfc3339().prefix(10)
        let prefix = "\(day)-\(UUID().uuidString.lowercased())"
        let file = try await api.exports.withFolder(for: asked.segment.id) { folder in
            try await api.store.performSlowly { _ in try export(asked, prefix, into: folder) }
        }
        return APIAnswer.ok(status: 201) { json in
            json.member("object_prefix", prefix)
            json.member("url", "\(request.baseURL.isEmpty ? request.localURL() : request.baseURL)/exports/\(file.name)")
            json.member("message", "success")
            let callback = ("is not called: the file was complete before this answer", "callback_endpoint")
            json.dropped(fields: asked.hasCallback ? [callback] : [], misspelt)
        }
    }

    /// A file that an export made.
    func exportedFile(_ request: APIRequest) throws -> APIAnswer {
        guard let file = api.exports.file(request.parameters["file"] ?? "", of: log) else {
            throw APIError(
                status: 404, code: "unknown_export", error: "There is no such export, or none any more.",
                remedy: "Ask for the segment again.")
        }
        var answer = APIAnswer(status: 200, body: [])
        answer.file = APIAnswer.File(path: file.path, mediaType: file.mediaType)
        return answer
    }

    // MARK: - Writing

    /// Users in one part of the archive.
    private static let usersPerPart = 5_000
    /// The most times that an archive is packed again because a user was erased while it was packed.
    private static let mostPackings = 20

    /// Exports one read view of the segment, without the users who were erased since that view.
    private func export(
        _ asked: SegmentExportRequest, _ prefix: String, into folder: String
    ) throws -> ExportFiles.File {
        var lines = try ExportLines(in: folder)
        let now = log.options.now()
        let viewed = try api.store.read { log in
            let traits = TraitReader(log, at: now)
            return try log.users.forEachProfile(withUsage: asked.wantsUsage) { user, createdAt, state, usage in
                try Task.checkCancellation()
                let subject = ProfileSubject(user, state, createdAt: createdAt, traits: traits, in: log)
                guard try asked.segment.rule.accepts(subject, at: now) else { return }
                let profile = ExportedProfile(
                    user, createdAt: createdAt, state, usage: { usage ?? UsageProjection.initial }, api)
                var json = JSONWriter()
                try profile.write(asked.fields, customAttributes: asked.customAttributes, to: &json)
                try lines.append(json.bytes + [UInt8(ascii: "\n")], of: user.number)
            }
        }
        let name = "\(prefix).\(asked.format.ending)"
        for _ in 0..<Self.mostPackings {
            let position = try log.lastPosition()
            let isAnyoneErased = try log.reader.events.hasErasure(after: viewed)
            try ExportFiles.write("\(folder)/\(name)") { file in
                switch asked.format {
                case .zip: try pack(&lines, prefix, into: ZipArchive(file), checkingEach: isAnyoneErased)
                case .gzip: try pack(&lines, prefix, into: GzipArchive(file), checkingEach: isAnyoneErased)
                }
            }
            try api.exports.keep(name, in: folder, mediaType: asked.format.mediaType, position)
            // Gone if a user was erased while it was packed.
            if let file = api.exports.file(name, of: log) { return file }
        }
        throw APIError(
            status: 503, code: "export_outdated",
            error: "Users were erased each of \(Self.mostPackings) times that the export was packed.",
            remedy: "Ask for the segment again when fewer users are erased.")
    }

    /// Writes one JSON object a line, of users in the order of their creation.
    private func pack(
        _ lines: inout ExportLines, _ prefix: String, into archive: some ExportArchive, checkingEach: Bool
    ) throws {
        var archive = archive
        var written = 0
        try archive.begin("\(prefix)-1.txt")
        try lines.forEach { user, line in
            if checkingEach, try log.reader.users.find(user)?.isErased ?? true { return }
            if written > 0, written.isMultiple(of: Self.usersPerPart) {
                try archive.begin("\(prefix)-\(written / Self.usersPerPart + 1).txt")
            }
            try archive.append(line)
            written += 1
        }
        try archive.finish()
    }
}

// MARK: - The form of the answers

extension ExportEndpoints {
    static let users: AnswerShape =
        ["users": [ExportedProfile.shape], "message": .text, "invalid_user_ids?": [.text], "dropped?": .dropped]
        + .note
    static let segment: AnswerShape =
        ["object_prefix": .text, "url": .text] + .success + ["dropped?": .dropped]
}
