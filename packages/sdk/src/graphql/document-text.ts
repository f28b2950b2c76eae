import { TrunklineError } from '../errors.ts'

/** A literal, so that the error of the compiler shows it as well. */
const REFUSED =
  "Pass the text of the document instead of a DocumentNode: `print(document)`, or one that codegen made with `documentMode: 'string'`."

/** What makes the compiler refuse a `DocumentNode`, which has this property. */
export type NoDocumentNode = typeof REFUSED

export interface AnyDocument {
  toString(): string
  readonly kind?: unknown
}

/** The text of a document. That of a `DocumentNode` would take the printer of the package `graphql`. */
export function documentText(document: AnyDocument): string {
  if (document.kind !== undefined) throw new TrunklineError(REFUSED)
  return document.toString()
}
