import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  Lexer,
  type SelectionSetNode,
  Source,
  TokenKind,
} from 'graphql'
import type { DocumentBounds } from '#core/limits/document-bounds.ts'

/** What is counted of a document is what is bounded. */
export type DocumentSize = DocumentBounds

/** Reads no more of the text than the bound needs. What does not parse counts up to its mistake. */
export function countTokens(text: string, tokensMax: number): number {
  const lexer = new Lexer(new Source(text))
  let tokens = 0
  try {
    while (tokens <= tokensMax && lexer.advance().kind !== TokenKind.EOF) tokens += 1
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
  }
  return tokens
}

/**
 * Measures the selections of a document that is not validated yet: fragments may be unknown, unused or contain themselves. Each
 * is measured once. Once the fields are beyond the bound nothing else is counted, so the work is bounded by the document and
 * the bound, however often fragments multiply each other.
 */
export function measureSelections(
  { definitions }: DocumentNode,
  fieldsMax: number,
): Omit<DocumentSize, 'tokens'> {
  const measuring = new Measuring(
    new Map(
      definitions.flatMap((definition) =>
        definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
      ),
    ),
    fieldsMax,
  )
  const total = new Selections()
  for (const definition of definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    total.addInner(measuring.measure(definition.selectionSet))
  }
  // Validation reads fragments that nothing uses as well.
  for (const fragment of measuring.unused()) total.addInner(measuring.measure(fragment.selectionSet))
  return { fields: total.fields, aliases: total.aliases, equalNames: total.equalNames }
}

class Measuring {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>
  readonly #fieldsMax: number
  /** Null while a fragment is being measured: one that contains itself counts once, and validation refuses it. */
  readonly #measured = new Map<string, Selections | null>()

  constructor(fragments: ReadonlyMap<string, FragmentDefinitionNode>, fieldsMax: number) {
    this.#fragments = fragments
    this.#fieldsMax = fieldsMax
  }

  measure({ selections }: SelectionSetNode): Selections {
    const found = new Selections()
    for (const selection of selections) {
      if (found.fields > this.#fieldsMax) break
      if (selection.kind === Kind.FIELD) {
        found.addField((selection.alias ?? selection.name).value, selection.alias !== undefined)
        if (selection.selectionSet !== undefined) found.addInner(this.measure(selection.selectionSet))
      } else {
        found.addBeside(
          selection.kind === Kind.INLINE_FRAGMENT
            ? this.measure(selection.selectionSet)
            : this.#measureFragment(selection.name.value),
        )
      }
    }
    return found
  }

  unused(): readonly FragmentDefinitionNode[] {
    return [...this.#fragments.values()].filter(({ name }) => !this.#measured.has(name.value))
  }

  #measureFragment(name: string): Selections {
    const known = this.#measured.get(name)
    if (known !== undefined) return known ?? NOTHING
    this.#measured.set(name, null)
    const fragment = this.#fragments.get(name)
    const found = fragment === undefined ? NOTHING : this.measure(fragment.selectionSet)
    this.#measured.set(name, found)
    return found
  }
}

class Selections {
  fields = 0
  aliases = 0
  equalNames = 0
  readonly #names = new Map<string, number>()

  addField(name: string, isAlias: boolean): void {
    this.fields += 1
    if (isAlias) this.aliases += 1
    this.#addName(name, 1)
  }

  /** What is selected below one of the fields. */
  addInner({ fields, aliases, equalNames }: Selections): void {
    this.fields += fields
    this.aliases += aliases
    this.equalNames = Math.max(this.equalNames, equalNames)
  }

  /** What a fragment adds to the same selection. */
  addBeside(other: Selections): void {
    this.addInner(other)
    for (const [name, times] of other.#names) this.#addName(name, times)
  }

  #addName(name: string, times: number): void {
    const all = (this.#names.get(name) ?? 0) + times
    this.#names.set(name, all)
    this.equalNames = Math.max(this.equalNames, all)
  }
}

const NOTHING = new Selections()
