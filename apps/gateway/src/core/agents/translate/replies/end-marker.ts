/** With spaces, in quotes or in small letters, as servers and proxies send it. */
const END_MARKER = /^\s*["']?\[done\]/i

/** Whether the data of an event is the marker that nothing more follows, and no JSON. */
export function isEndMarker(data: string): boolean {
  // Nearly every event begins with a brace, so its first character shows that it is no end marker.
  return data.charCodeAt(0) !== BRACE && END_MARKER.test(data)
}

const BRACE = 0x7b
