import { type DocumentNode, type FieldNode, Kind, type SelectionSetNode } from 'graphql'
import { Problem } from '#core/base/errors/errors.ts'
import type { DocumentBounds } from '#core/limits/document-bounds.ts'

/** What is counted of a document is what is bounded. */
export type DocumentSize = DocumentBounds

/** How often each name has been selected in one place, by the fragments that are used there as well. */
type Names = Map<string, number>

/**
 * Measures a document that is not validated yet: fragments may be unknown, unused or contain themselves. The count ends beyond the
 * bound of fields, and where fragments multiply each other without fields, after so many steps that it counts as beyond.
 */
export function measureDocument(
  { definitions, tokenCount = 0 }: DocumentNode,
  { fields: fieldsMax }: Pick<DocumentBounds, 'fields'>,
): DocumentSize {
  const size = { tokens: tokenCount, fields: 0, aliases: 0, equalNames: 0 }
  let stepsLeft = fieldsMax * STEPS_OF_FIELD
  const fragments = new Map<string, SelectionSetNode>()
  const within = new Set<string>()
  const unused = new Set<string>()

  const measure = ({ selections }: SelectionSetNode, names: Names): void => {
    for (const selection of selections) {
      stepsLeft -= 1
      if (stepsLeft < 0) size.fields = fieldsMax + 1
      if (size.fields > fieldsMax) return
      if (selection.kind === Kind.FIELD) measureField(selection, names)
      else if (selection.kind === Kind.INLINE_FRAGMENT) measure(selection.selectionSet, names)
      else measureFragment(selection.name.value, names)
    }
  }
  const measureField = ({ name, alias, selectionSet }: FieldNode, names: Names): void => {
    const { value } = alias ?? name
    const times = (names.get(value) ?? 0) + 1
    names.set(value, times)
    size.fields += 1
    if (alias !== undefined) size.aliases += 1
    size.equalNames = Math.max(size.equalNames, times)
    if (selectionSet !== undefined) measure(selectionSet, new Map())
  }
  const measureFragment = (name: string, names: Names): void => {
    const fragment = fragments.get(name)
    unused.delete(name)
    // Validation refuses a fragment that contains itself.
    if (fragment === undefined || within.has(name)) return
    within.add(name)
    measure(fragment, names)
    within.delete(name)
  }

  for (const each of definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each.selectionSet)
  }
  for (const name of fragments.keys()) unused.add(name)
  for (const each of definitions) {
    if (each.kind === Kind.OPERATION_DEFINITION) measure(each.selectionSet, new Map())
  }
  // Validation reads fragments that nothing uses as well.
  for (const name of unused) measureFragment(name, new Map())
  return size
}

/** More inline fragments and spreads than that for each field are in no document that a client has a reason to send. */
const STEPS_OF_FIELD = 10

const NOUNS = [
  ['tokens', 'tokens'],
  ['fields', 'fields, aliases included and fragments as often as they are used'],
  ['aliases', 'aliases, fragments as often as they are used'],
  ['equalNames', 'fields with the same name in one selection'],
] as const

/**
 * Says which bound a document is beyond; undefined if it is within all.
 *
 * @param countedTo - where the counts end, since no more is needed to refuse
 * @param whose - whose bounds these are, in parentheses
 */
export function excessOf(
  size: DocumentSize,
  bounds: DocumentBounds,
  countedTo: Partial<DocumentBounds>,
  whose = '',
): Problem | undefined {
  for (const [name, noun] of NOUNS) {
    const { [name]: counted } = size
    const { [name]: allowed } = bounds
    const { [name]: end = Infinity } = countedTo
    if (counted <= allowed) continue
    return new Problem('operation_too_large', {
      detail: `operation: expected at most ${allowed} ${noun}${whose}.`,
      cost: { requested: counted > end ? `more than ${end}` : counted, allowed },
    })
  }
  return undefined
}
