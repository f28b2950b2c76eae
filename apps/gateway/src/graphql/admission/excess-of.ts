import { Problem } from '#core/errors.ts'
import type { DocumentBounds } from '#core/limits/document-bounds.ts'
import type { DocumentSize } from './document-size.ts'

const EXPECTED: Readonly<Record<keyof DocumentSize, string>> = {
  tokens: 'tokens',
  fields: 'fields, aliases included and fragments as often as they are used',
  aliases: 'aliases, fragments as often as they are used',
  equalNames: 'fields of the same name in one selection',
}
const NAMES = ['tokens', 'fields', 'aliases', 'equalNames'] as const

/** Says which bound a document is beyond; undefined if it is within all. What was not counted is left out. */
export function excessOf(
  size: Partial<DocumentSize>,
  bounds: DocumentBounds,
  whose = '',
): Problem | undefined {
  const name = NAMES.find((each) => (size[each] ?? 0) > bounds[each])
  if (name === undefined) return undefined
  const detail = `operation: expected at most ${bounds[name]} ${EXPECTED[name]}${whose}.`
  return new Problem('operation_too_large', { detail })
}
