import { Problem } from '#core/errors/errors.ts'
import type { DocumentBounds } from '#core/limits/document-bounds.ts'
import type { DocumentSize } from './document-size.ts'

/** What is said of a bound that a document is beyond. */
const TEXTS: Readonly<Record<keyof DocumentSize, (most: number) => string>> = {
  tokens: (most) => `expected at most ${most} tokens`,
  fields: (most) =>
    `expected at most ${most} fields, aliases included and fragments as often as they are used`,
  aliases: (most) => `expected at most ${most} aliases, fragments as often as they are used`,
  equalNames: (most) =>
    `selects the same names too often, expected each at most ${most} times in one selection`,
}
const NAMES = ['tokens', 'fields', 'aliases', 'equalNames'] as const

/** Where the counts end, since no more is needed to refuse. */
type CountedTo = Readonly<Partial<DocumentSize>>

/**
 * Says which bounds a document is beyond; undefined if it is within all. What was not counted is left out. The cost is that of
 * the first of these bounds.
 */
export function excessOf(
  size: Partial<DocumentSize>,
  bounds: DocumentBounds,
  { whose = '', countedTo = {} }: { readonly whose?: string; readonly countedTo?: CountedTo } = {},
): Problem | undefined {
  const exceeded = NAMES.filter((name) => (size[name] ?? 0) > bounds[name])
  const [first] = exceeded
  if (first === undefined) return undefined
  const [counted = 0, end = Infinity] = [size[first], countedTo[first]]
  return new Problem('operation_too_large', {
    detail: `operation: ${exceeded.map((name) => TEXTS[name](bounds[name])).join('; ')}${whose}.`,
    cost: { requested: counted > end ? `more than ${end}` : counted, allowed: bounds[first] },
  })
}
