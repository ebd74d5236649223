@_exported public import ProfileLogRecords
