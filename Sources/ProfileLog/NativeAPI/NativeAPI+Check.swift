internal import ProfileLogRequests

extension NativeAPI {
    /// Refuses the body `members` of a POST to `path` that no store could take: what is wrong with it without looking
    /// at a store. `path` is that of an endpoint, as in `/v1/devices/{device}/push`; of a few endpoints only the names
    /// of the fields are checked.
    ///
    /// A request that passes may still be refused, as when its user is unknown.
    package static func check(_ path: String, _ members: [AttributeValue.Member]) throws(APIProblem) {
        guard let endpoint = endpoints.first(where: { $0.method == .post && $0.path == path }) else { return }
        do {
            let fields = try Fields(members, Set(endpoint.inputs.map { Name($0.name) }))
            if let kind = WriteKind.all.first(where: { path == "/v1/\($0.name)" }) { return try check(kind, fields) }
            switch path {
            case "/v1/devices/{device}/settings": _ = try DeviceEndpoints.settingsChange(fields)
            case "/v1/devices/{device}/launch": _ = try DeviceEndpoints.order(fields, DeviceStorage.defaultDevice)
            case "/v1/devices/{device}/push": _ = try PushEndpoints.intent(fields)
            case "/v1/devices/{device}/messages": _ = try InAppEndpoints.action(fields)
            case "/v1/messages": _ = try InAppEndpoints.definitions(fields.value("messages") ?? .null)
            default: return
            }
            if endpoint.inputs.contains(where: { $0.name == "time" }) { _ = try DeviceEndpoints.deviceContext(fields) }
        } catch {
            throw APIProblem(error)
        }
    }

    private static func check(_ kind: WriteKind, _ fields: Fields) throws {
        let expected = try WriteEndpoints.expectation(fields.value("expect")) ?? .any
        let write =
            kind.isSaved
            ? try WriteEndpoints.saving(kind, fields, expected, nil)
            : try WriteEndpoints.logging(kind, fields, expected, nil) { try $0.time("time") }
        for event in write.events { try Validation.check(event, write.context) }
    }
}
