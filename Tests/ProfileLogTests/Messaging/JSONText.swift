import ProfileLogMessaging

/// The value that a JSON text is.
func json(_ text: String) throws -> AttributeValue { try JSON.parse(text) }
