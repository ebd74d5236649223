internal import ProfileLogRequests

extension NativeAPI {
    /// Refuses the body `members` of a POST to `path` that no store could take: its errors, without looking at a store.
    /// `path` is that of an endpoint, as in `/v1/devices/{device}/push`; of a few endpoints only the names of the
    /// fields are checked.
    ///
    /// A request that passes may still be refused, as when its user is unknown.
    package static func check(_ path: String, _ members: [AttributeValue.Member]) throws(APIError) {
        guard let handler = handlers.first(where: { $0.endpoint.method == .post && $0.endpoint.path == path }) else {
            return
        }
        do {
            if let check = handler.check {
                try check(members, handler.endpoint)
            } else {
                _ = try Fields(members, of: handler.endpoint)
            }
        } catch {
            throw APIError(error)
        }
    }

    /// Checks the fields of a body, and its time.
    static func checking(
        _ check: @escaping @Sendable (Fields) throws -> Void
    ) -> EndpointHandler<NativeAPI>.Check {
        { members, endpoint in
            let fields = try Fields(members, of: endpoint)
            try check(fields)
            if endpoint.inputs.contains(where: { $0.name == "time" }) { _ = try DeviceEndpoints.deviceContext(fields) }
        }
    }

    /// Checks what a write of this kind saves or logs.
    static func checking(_ kind: WriteKind) -> EndpointHandler<NativeAPI>.Check {
        { members, endpoint in try check(kind, Fields(members, of: endpoint)) }
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

extension Fields {
    fileprivate init(_ members: [AttributeValue.Member], of endpoint: Endpoint) throws {
        try self.init(members, Set(endpoint.inputs.map { Name($0.name) }))
    }
}
