internal import ProfileLogRequests

/// Limits of one request and one object of the REST API (spec/rest-api 1.2). A character is a Unicode scalar.
struct TrackLimits: Hashable, Sendable {
    /// Objects in each of the three arrays.
    var objectsPerArray = 75
    /// Objects in all three arrays.
    var objectsPerRequest = 225
    /// Objects in all three arrays of a bulk request.
    var objectsPerBulkRequest = 1_000
    /// Objects about one user in a bulk request.
    var objectsPerUserInBulk = 100
    /// Bytes of the body of a bulk request.
    var bytesPerBulkRequest = 2 << 20
    /// Characters of the name of an attribute, an event, a property, a product.
    var charactersPerName = 255
    /// Characters of a string that is the value of an attribute or of a property.
    var charactersPerString = 255
    /// Elements of an array that is set; of more, the last are kept.
    var arrayElements = 500
    /// Bytes of JSON of an array, an object, or an array of objects.
    var bytesPerNestedValue = 100 << 10
    /// Bytes of JSON of one attributes object, all fields together.
    var bytesPerAttributesObject = 512 << 10
    /// Properties of an event or a purchase; more are ignored.
    var properties = 256
    /// Bytes of JSON of all properties of an event or a purchase.
    var bytesPerProperties = 100 << 10
    /// Arrays and objects within each other, in a value.
    var depth = 48
    /// Identifiers of one kind in an export.
    var identifiersPerExport = 50
    /// Users whose subscription states one request sets or asks for.
    var usersPerSubscriptionRequest = 50

    /// Requests a minute that send to a segment, an audience or all users.
    var targetedSendsPerMinute = 250
    /// IDs that are created for sends in a day.
    var sendIDsPerDay = 100

    /// A limit for an answer: in KB if it is a whole number of them.
    static func shown(bytes: Int) -> String {
        bytes.isMultiple(of: 1 << 10) ? "\(bytes >> 10) KB" : "\(bytes) bytes"
    }
}
