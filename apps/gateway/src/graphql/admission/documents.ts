import { createHash } from 'node:crypto'
import { fail, refuseField } from '#core/base/errors/errors.ts'
import { OperatorError } from '#core/base/errors/operator-error.ts'
import { readRegularFile, UnreadableFile } from '#core/base/read-regular-file.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import type { RequestParams } from './request-params.ts'

export interface DocumentSettings {
  readonly documents: 'any' | 'persisted' | 'trusted'
  readonly trustedDocuments?: string | undefined
  /** What the gateway's own console sends, by hash; trusted beside the documents of the file. */
  readonly consoleDocuments?: Readonly<Record<string, string>> | undefined
}

export type FindDocument = (params: RequestParams) => RequestParams

/**
 * Which documents a gateway executes: `any`; `persisted`, where clients may send the hash of a document that they have sent
 * before (automatic persisted queries); or `trusted`, only those of a file and of the console.
 *
 * @throws OperatorError if the file cannot be read
 */
export async function createDocuments({
  documents,
  trustedDocuments,
  consoleDocuments = {},
}: DocumentSettings) {
  const read = documents === 'trusted' ? await readTrusted(trustedDocuments ?? '') : []
  const trusted = new Map([...Object.entries(consoleDocuments), ...read])
  const texts = new Set(trusted.values())
  const trusts = (text: string) => texts.has(text)
  if (documents === 'trusted') return { trusts, find: findTrusted(trusted, trusts) }
  return {
    /** Whether the gateway trusts a document, because the operator or its own console brought it. */
    trusts,
    /** Returns the parameters of a request with the document that they name or carry. */
    find: documents === 'persisted' ? findPersisted() : withoutPersistence,
  }
}

/** Clients know these two messages: Apollo Client and urql send the whole document after the first, and never a hash after the second. */
const NOT_FOUND = 'PersistedQueryNotFound'
const NOT_SUPPORTED = 'PersistedQueryNotSupported'

function withoutPersistence(params: RequestParams): RequestParams {
  if (params.query == null && idOf(params) !== undefined) fail('document_not_found', NOT_SUPPORTED)
  return params
}

/** Documents that clients have sent. Anybody can send some, so they are few and short; others are sent whole each time. */
function findPersisted(): FindDocument {
  const stored = new BoundedMap<string, string>(DOCUMENTS_MAX)
  return (params) => {
    const hash = idOf(params)?.toLowerCase()
    const { query } = params
    if (hash === undefined) return params
    if (typeof query !== 'string') {
      return { ...params, query: stored.get(hash) ?? fail('document_not_found', NOT_FOUND) }
    }
    if (createHash('sha256').update(query).digest('hex') !== hash) {
      refuseField(['extensions', 'persistedQuery', 'sha256Hash'], 'is not the hash of the document.')
    }
    if (query.length <= DOCUMENT_CHARACTERS_MAX) stored.set(hash, query)
    return params
  }
}

const DOCUMENTS_MAX = 1_000
const DOCUMENT_CHARACTERS_MAX = 16_384

function findTrusted(trusted: ReadonlyMap<string, string>, trusts: (text: string) => boolean): FindDocument {
  return (params) => {
    const id = idOf(params)
    if (id !== undefined)
      return { ...params, query: trusted.get(id) ?? fail('document_not_found', NOT_FOUND) }
    if (params.query != null && !trusts(params.query)) fail('document_not_trusted')
    return params
  }
}

/** The hash of automatic persisted queries, or the `documentId` of GraphQL over HTTP, with or without its algorithm. */
function idOf({ documentId, extensions }: RequestParams): string | undefined {
  const persisted: unknown = extensions?.persistedQuery
  const hash = (persisted as { sha256Hash?: unknown } | null | undefined)?.sha256Hash ?? documentId
  return typeof hash === 'string' ? withoutAlgorithm(hash) : undefined
}

/** Codegen writes the algorithm in front of the hashes of its file. */
function withoutAlgorithm(hash: string): string {
  return hash.replace(/^sha256:/, '')
}

async function readTrusted(path: string): Promise<ReadonlyMap<string, string>> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new OperatorError(`graphql.trustedDocuments: ${path} ${why}.`, { cause })
  }
  let documents: unknown
  try {
    documents = JSON.parse(await readRegularFile(path))
  } catch (error) {
    if (error instanceof UnreadableFile) refuse(`cannot be read: ${error.message}`, error)
    refuse(error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read', error)
  }
  const entries = Object.entries(documents ?? {})
  if (Array.isArray(documents) || entries.some(([, text]) => typeof text !== 'string')) {
    refuse('is not an object of ids and documents, as codegen writes it')
  }
  return new Map((entries as [string, string][]).map(([id, text]) => [withoutAlgorithm(id), text]))
}
