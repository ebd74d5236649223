/// What the GETs in Braze's format take. A handler may read no other: `Query` asserts it.
extension EndpointInput {
    private static let most = UInt64(Int32.max)

    /// The number of a page.
    static let page = EndpointInput("page", .integer, limits: 0...most, standard: 0)
    /// How many users one answer has.
    static let usersPerPage = EndpointInput("limit", .integer, limits: 1...100, standard: 100)
    /// How many users are left out in front.
    static let offset = EndpointInput("offset", .integer, limits: 0...most, standard: 0)
}

extension Endpoint {
    /// The users that a request is about: each may be given several times, with `[]` or without.
    private static let people = ["external_id", "email", "phone"].flatMap { name in
        [EndpointInput(name, .array), EndpointInput(name + "[]", .array)]
    }

    static let brazeReads: [String: [EndpointInput]] = [
        "GET /events/list": [.page],
        "GET /events": [EndpointInput("cursor")],
        "GET /custom_attributes": [EndpointInput("cursor")],
        "GET /purchases/product_list": [.page],
        "GET /subscription/status/get": [EndpointInput("subscription_group_id", isRequired: true)] + people,
        "GET /subscription/user/status": people + [.usersPerPage, .offset],
        "GET /exports/{file}": [],
    ]
}
