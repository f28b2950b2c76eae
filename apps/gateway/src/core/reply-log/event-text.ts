/** Ends each event of a stream. None has an empty line within, since its texts are JSON on one line. */
const EVENT_END = '\n\n'

export interface Numbered {
  readonly text: string
  /** How many events the text has. */
  readonly count: number
}

/** Adds a line with its number to each event, counting on from `last`. */
export function withIds(text: string, last: number): Numbered {
  let count = 0
  const numbered = text.replaceAll(EVENT_END, () => {
    count += 1
    return `\nid: ${last + count}${EVENT_END}`
  })
  return { text: numbered, count }
}

export function countEvents(text: string): number {
  return text.split(EVENT_END).length - 1
}

/** The text without its first events. */
export function withoutEvents(text: string, count: number): string {
  return count <= 0 ? text : text.split(EVENT_END).slice(count).join(EVENT_END)
}
