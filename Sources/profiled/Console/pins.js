// Pins: moments, values, events and sends that somebody keeps while they look. They stay in this tab (sessionStorage), in the
// order of pinning; the tray is below the page, and "Pins 3" in the top bar leads there.
//   pin({place: 'users', id: 'ana', params: {at: 9, field: 'level'}, at: 9, user: 'ana', sentence: 'level is 7: …', time, value})
//     at        position of the moment or of the event: what stays of a pin in a copied link
//     place, id, params   the address (as in link()); a pin of an event: {place: 'events', id: 12}
//     user      user key; a scenario file needs it          sentence   text without values; value (JSON): copied only if asked
//     time      recorded_at of the event at `at`, if known  command    the line of profilecli, without `profilecli`
//   returns false if that pin was there. It says what it did to a screen reader, and shows the tray.
export function pin() {}
