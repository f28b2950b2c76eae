/** With spaces, in quotes or in small letters, as servers and proxies send it. */
const END_MARKER = /^\s*["']?\[done\]/i

/** Whether the data of an event is the marker that nothing more follows, and no JSON. */
export function isEndMarker(data: string): boolean {
  // Nearly every event begins with a brace, and is told apart by its first character.
  return data.charCodeAt(0) !== BRACE && END_MARKER.test(data)
}

const BRACE = 0x7b
