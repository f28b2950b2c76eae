/** What stands around an id that was copied with its name, from a header or from JSON. */
const NAMED_ID = /^["']?(?:x-(?:request|conversation)-id|(?:request|conversation|chat)_?id)["']?\s*[:=]\s*/i

/** The id in a text that was copied, perhaps with its name, quotes and a comma. */
export function idIn(text: string): string {
  return text
    .trim()
    .replace(NAMED_ID, '')
    .replace(/^["'`]|["'`]?,?$/g, '')
}
