@_exported public import ProfileLogDocuments
