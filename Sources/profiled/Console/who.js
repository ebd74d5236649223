// Who else? From one cause to everybody.
//   whoElse(root, {context, user, event, field, at, value, vs})   fills `root` (an empty element); returns its panel's element
//     context   the place's context (context.link, context.signal)
//     event     the event of the cause, as EVENT of the API or `set` of blame: position, kind, source, device, name, …
//     user      user key of the person from whom one came          field   'custom.level' or 'level', or null
//     at        the moment of handle A as a position, null for now    vs   handle B, or null
//     value     the field's value at `at`, for the first condition
// It offers the causes of that event (the event itself, its device, its source if `import`, its name), the condition
// `where`, who would enter and leave, sizes then and now, and who changed between the two handles.
export function whoElse() {}
