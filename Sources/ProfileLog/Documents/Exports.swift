@_exported public import ProfileLogSnippets
