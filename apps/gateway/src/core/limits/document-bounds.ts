/** How large a GraphQL document may be, every fragment as often as it is used. */
export interface DocumentBounds {
  /** Words, numbers and punctuation. */
  readonly tokens: number
  /** Fields of all operations. */
  readonly fields: number
  readonly aliases: number
  /** The most fields of one selection, those of its fragments included, that have the same name in the result. */
  readonly equalNames: number
}

/** The bounds by what is known about the sender. */
export interface BoundsBySender {
  readonly withCredential: DocumentBounds
  readonly withoutCredential: DocumentBounds
}

/** The defaults of the configuration; docs/graphql.md has the same numbers. */
export const DOCUMENT_BOUNDS: BoundsBySender = {
  withCredential: { tokens: 2_000, fields: 1_000, aliases: 500, equalNames: 50 },
  withoutCredential: { tokens: 250, fields: 250, aliases: 20, equalNames: 10 },
}
