/** Ends each event of a stream. None has an empty line within, since its texts are JSON on one line. */
const EVENT_END = '\n\n'

export interface Numbered {
  readonly text: string
  /** How many events the text has. */
  readonly count: number
}

/** Adds a line with its number to each event, counting on from `last`. */
export function withIds(text: string, last: number): Numbered {
  let numbered = ''
  let start = 0
  let count = 0
  for (;;) {
    const at = text.indexOf(EVENT_END, start)
    if (at < 0) return { text: numbered, count }
    count += 1
    numbered += `${text.slice(start, at)}\nid: ${last + count}${EVENT_END}`
    start = at + EVENT_END.length
  }
}

export function countEvents(text: string): number {
  let count = 0
  for (let at = text.indexOf(EVENT_END); at >= 0; at = text.indexOf(EVENT_END, at + EVENT_END.length))
    count += 1
  return count
}

/** The text without its first events. */
export function withoutEvents(text: string, count: number): string {
  let start = 0
  for (let dropped = 0; dropped < count; dropped += 1) {
    const at = text.indexOf(EVENT_END, start)
    if (at < 0) return ''
    start = at + EVENT_END.length
  }
  return start === 0 ? text : text.slice(start)
}
