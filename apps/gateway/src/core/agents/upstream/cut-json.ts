import { parseJson } from '#core/base/values/json.ts'

/** Where a text can be cut so that only closing brackets are missing. */
interface SafePlace {
  readonly end: number
  readonly closers: string
}

/** An escape of which only the beginning is left. */
const CUT_ESCAPE = /\\(?:u[0-9a-f]{0,3})?$/i

/**
 * Reads the beginning of a JSON text that was cut off: what is complete of it, and the beginning of a string that is not. Returns
 * undefined for a text that is no object or list, or is not valid up to where it was cut.
 */
export function parseCutJson(text: string): unknown {
  const { isInString, closers, safe } = placesIn(text)
  if (closers === '') return undefined
  const completed = isInString ? `${withoutCutEscape(text)}"${closers}` : text + closers
  // The end may also be within a key, a number or a word, with which nothing can be done.
  return parseJson(completed) ?? parseJson(text.slice(0, safe.end) + safe.closers)
}

function placesIn(text: string) {
  const open: string[] = []
  let isInString = false
  let safe: SafePlace = { end: 0, closers: '' }
  const note = (end: number) => {
    safe = { end, closers: open.toReversed().join('') }
  }
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '"') isInString = !isInString
    else if (isInString) {
      if (character === '\\') index += 1
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']')
      note(index + 1)
    } else if (character === '}' || character === ']') {
      open.pop()
      note(index + 1)
    } else if (character === ',') note(index)
  }
  return { isInString, closers: open.toReversed().join(''), safe }
}

/** A backslash at the end is an escape only if it is not escaped itself. */
function withoutCutEscape(text: string): string {
  const cut = CUT_ESCAPE.exec(text)
  if (cut === null) return text
  const before = /\\*$/.exec(text.slice(0, cut.index))?.[0].length ?? 0
  return before % 2 === 0 ? text.slice(0, cut.index) : text
}
