import { parseJson } from '#core/base/values/json.ts'
import { withoutTrailing } from '#core/base/values/without-trailing.ts'

/** An escape of which only the beginning is left. */
const CUT_ESCAPE = /\\(?:u[0-9a-f]{0,3})?$/i

/**
 * Reads the beginning of a JSON text that was cut off: what is complete of it, and the beginning of a string that is not. Returns
 * undefined for a text that is no object or list, or is not valid up to where it was cut.
 */
export function parseCutJson(text: string): unknown {
  const { isInString, closers, safeEnd } = placesIn(text)
  if (closers === '') return undefined
  const completed = isInString ? `${withoutCutEscape(text)}"${closers}` : text + closers
  // The end may also be within a key, a number or a word, with which nothing can be done.
  return parseJson(completed) ?? parseJson(text.slice(0, safeEnd) + closers)
}

/** The brackets that are open at the end, and the last place at which only these are missing. */
function placesIn(text: string) {
  const open: string[] = []
  let isInString = false
  let safeEnd = 0
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (character === '"') isInString = !isInString
    else if (isInString) {
      if (character === '\\') index += 1
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? '}' : ']')
      safeEnd = index + 1
    } else if (character === '}' || character === ']') {
      open.pop()
      safeEnd = index + 1
    } else if (character === ',') safeEnd = index
  }
  return { isInString, closers: open.toReversed().join(''), safeEnd }
}

/** A backslash at the end is an escape only if it is not escaped itself. */
function withoutCutEscape(text: string): string {
  const cut = CUT_ESCAPE.exec(text)
  if (cut === null) return text
  const before = text.slice(0, cut.index)
  const backslashes = before.length - withoutTrailing(before, '\\').length
  return backslashes % 2 === 0 ? before : text
}
