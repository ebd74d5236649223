@_exported public import ProfileLogFacts
