import type { Turn } from './turn.ts'

/** More would cost the agent much of its context. */
const CARRIED_CHARACTERS_MAX = 20_000

/**
 * The messages of turns as one text, in the form that the gateway gives to agents which take a single question. The newest are
 * kept where there are too many. Files are left out, because they may have expired.
 */
export function carriedMessages(turns: readonly Turn[]): string {
  let text = ''
  for (const turn of turns.filter((one) => one.text !== '').toReversed()) {
    const before = `User: ${turn.query}\n\nAssistant: ${turn.text}`
    const longer = text === '' ? before : `${before}\n\n${text}`
    if (longer.length > CARRIED_CHARACTERS_MAX) return text
    text = longer
  }
  return text
}
