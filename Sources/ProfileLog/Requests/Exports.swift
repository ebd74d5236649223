@_exported public import ProfileLogGuide
