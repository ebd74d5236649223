internal import Foundation
internal import ProfileLog

/// `POST /users/export/segment`, and the files that it makes. The answer comes when the file is complete.
extension API {
    func exportSegment(_ request: APIRequest) async -> APIAnswer {
        do {
            let asked = try SegmentExportRequest(request.body, workspace)
            let day = log.options.now().rfc3339().prefix(10)
            let prefix = "\(day)-\(UUID().uuidString.lowercased())"
            let name = "\(prefix).\(asked.format.ending)"
            try exports.removeOutdated(log)
            let asker = ExportShelf.Asker(
                digest: RequestNote.digest(request), position: try log.lastPosition(), isAwaited: request.isAwaited)
            let file = try await exports.write(
                name, mediaType: asked.format.mediaType, of: asked.segment.id, for: asker
            ) { file in
                switch asked.format {
                case .zip: try await write(asked, prefix, into: ZipArchive(file))
                case .gzip: try await write(asked, prefix, into: GzipArchive(file))
                }
                try exports.removeOutdated(log)
            }
            var json = JSONWriter()
            json.beginObject()
            json.member("object_prefix", String(file.name.prefix { $0 != "." }))
            json.member("url", "\(request.baseURL)/exports/\(file.name)")
            json.member("message", "success")
            if asked.hasCallback {
                json.key("dropped")
                json.array(["callback_endpoint"]) { json, field in
                    json.beginObject()
                    json.member("reason", "is not called: the file was complete before this answer")
                    json.member("field", field)
                    json.endObject()
                }
            }
            json.endObject()
            return APIAnswer(status: 201, body: json.bytes)
        } catch {
            return APIProblem(error).messageAnswer
        }
    }

    /// A file that an export made.
    func exportedFile(_ request: APIRequest) throws -> APIAnswer {
        try exports.removeOutdated(log)
        guard let file = exports.file(request.parameters["file"] ?? "") else {
            return APIProblem(
                status: 404, code: "unknown_export", error: "There is no such export, or none any more.",
                remedy: "Ask for the segment again."
            ).messageAnswer
        }
        var answer = APIAnswer(status: 200, body: [])
        answer.file = APIAnswer.File(path: file.path, mediaType: file.mediaType)
        return answer
    }

    // MARK: - Writing

    /// Users in one part of the archive.
    private static let usersPerPart = 5_000
    /// Users that are read at once.
    private static let usersPerSlice = 100

    /// Writes one JSON object a line, of users in the order of their creation. Each profile is as it is when its line is written.
    private func write(
        _ asked: SegmentExportRequest, _ prefix: String, into archive: some ExportArchive
    ) async throws {
        var archive = archive
        var parts = 0
        var written = 0
        try archive.begin(Self.part(prefix, parts))
        var last = UserNumber.system
        while case let users = try log.users(after: last, limit: Self.usersPerSlice), let end = users.last {
            last = end.number
            for user in users {
                guard let line = try line(user, asked) else { continue }
                if written == Self.usersPerPart * (parts + 1) {
                    parts += 1
                    try archive.begin(Self.part(prefix, parts))
                }
                try archive.append(line)
                written += 1
            }
            // The thread is lent; others wait for it, and nobody may want the file any more.
            try Task.checkCancellation()
            await Task.yield()
        }
        try archive.finish()
    }

    private static func part(_ prefix: String, _ number: Int) -> String { "\(prefix)-\(number + 1).txt" }

    /// The user's line; nil for one who is not of the segment, was merged into another one, or was erased.
    private func line(_ user: UserInfo, _ asked: SegmentExportRequest) throws -> [UInt8]? {
        guard !user.isErased, try log.survivor(of: user.number) == user.number else { return nil }
        let profile = try ExportedProfile(user, self)
        guard asked.segment.rule.takes(profile) else { return nil }
        var json = JSONWriter()
        try profile.write(asked.fields, customAttributes: asked.customAttributes, to: &json)
        return json.bytes + [UInt8(ascii: "\n")]
    }
}
