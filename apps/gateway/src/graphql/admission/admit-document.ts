import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind, OperationTypeNode } from 'graphql'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import { fail, type Problem, refuseField } from '#core/errors/errors.ts'
import { type BoundsBySender, DOCUMENT_BOUNDS, type DocumentBounds } from '#core/limits/document-bounds.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import { type Credential, type OperationPlace, readCredential } from '../context.ts'
import { parseDocument } from '../mistakes/parse-document.ts'
import {
  closedProblem,
  closedToCallerProblem,
  LOGIN_CHARACTERS_MAX,
  namesLogin,
  unknownSender,
} from './closed-door.ts'
import { countTokens, type DocumentSize, measureSelections } from './document-size.ts'
import { excessOf } from './excess-of.ts'
import { type RequestParams, requireQuery } from './request-params.ts'
import { rootFieldNames } from './root-fields.ts'

export interface AdmissionDeps {
  readonly services: Pick<Services, 'authentication' | 'refusedDocuments'>
  readonly schema: GraphQLSchema
  readonly bounds?: BoundsBySender | undefined
  /** Whether clients may ask for the schema, by documents that tools write and that may be large. */
  readonly introspection: boolean
  /** Whether a document is one of those that the gateway itself trusts, which no bound applies to. */
  trusts(text: string): boolean
}

/** Decides which documents are worth validating, and parses them. */
export type DocumentAdmission = ReturnType<typeof createDocumentAdmission>

export function createDocumentAdmission({
  services,
  schema,
  introspection,
  trusts,
  bounds: { withCredential, withoutCredential } = DOCUMENT_BOUNDS,
}: AdmissionDeps) {
  const { refusedDocuments } = services
  const parsedDocuments = new BoundedMap<string, ParsedDocument>(CACHED_DOCUMENTS_MAX)
  /** As many as the operator has. */
  const trustedDocuments = new Map<string, DocumentNode>()
  /** Tools write these, and they cost no statement; but what multiplies them is bounded for strangers. */
  const introspectionOfStranger = {
    ...withoutCredential,
    tokens: withCredential.tokens,
    fields: withCredential.fields,
  }

  const countUnknown = async ({ http }: OperationPlace, { problem }: Credential): Promise<void> => {
    if (problem === undefined || problem.status === 401) await refusedDocuments.count(unknownSender(http))
  }

  const refuse = async (place: OperationPlace, problem: Problem): Promise<never> => {
    const credential = await readCredential(services, place)
    const { caller, problem: invalid } = credential
    if (caller === undefined) await countUnknown(place, credential)
    else await refusedDocuments.count({ kind: 'caller', caller })
    throw invalid ?? problem
  }

  const validCaller = async (place: OperationPlace): Promise<Principal | undefined> => {
    const { caller, problem }: Credential = await readCredential(services, place)
    // A database that is away says nothing about the credential.
    if (problem !== undefined && problem.status >= 500) throw problem
    return caller
  }

  /** Logging in is open to those who share an address with others whose documents were refused. */
  const isLogin = (text: string, operationName: unknown): boolean => {
    if (text.length > LOGIN_CHARACTERS_MAX || !namesLogin(text)) return false
    const tokens = countTokens(text, withoutCredential.tokens)
    if (tokens > withoutCredential.tokens) return false
    const { document } = parsedDocuments.get(text) ?? parse(text, tokens)
    return onlyLogsIn(document, operationName)
  }

  const requireOpen = async (params: RequestParams, place: OperationPlace): Promise<void> => {
    const retryAfterSeconds = refusedDocuments.closedSeconds(unknownSender(place.http))
    if (retryAfterSeconds === undefined || (await validCaller(place)) !== undefined) return
    if (isLogin(requireQuery(params), params.operationName)) return
    throw closedProblem(retryAfterSeconds)
  }

  /** A caller whose documents were refused again and again may send no more than a stranger for a while. */
  const requireOpenTo = (caller: Principal): void => {
    const retryAfterSeconds = refusedDocuments.closedSeconds({ kind: 'caller', caller })
    if (retryAfterSeconds !== undefined) throw closedToCallerProblem(retryAfterSeconds)
  }

  /** How many tokens are counted: a stranger may have no more in any case. */
  const countedTokens = (place: OperationPlace, boundsOfStranger: DocumentBounds): number =>
    isStranger(place) ? boundsOfStranger.tokens : withCredential.tokens

  /** @throws Problem if the document is larger than its sender may make it */
  const requireWithin = async (
    size: Partial<DocumentSize>,
    boundsOfStranger: DocumentBounds,
    place: OperationPlace,
  ): Promise<void> => {
    const countedTo = { tokens: countedTokens(place, boundsOfStranger), fields: withCredential.fields }
    const whose = ' (without a valid credential)'
    const excessOfStranger = excessOf(size, boundsOfStranger, { whose, countedTo })
    if (excessOfStranger === undefined) return
    const excess = excessOf(size, withCredential, { countedTo })
    const caller = await validCaller(place)
    if (caller !== undefined) requireOpenTo(caller)
    if (excess !== undefined) await refuse(place, excess)
    if (caller === undefined) await refuse(place, excessOfStranger)
  }

  /** Tokens are counted first, so that nothing is parsed of a document that is far too large. */
  const parseWithinBounds = async (text: string, place: OperationPlace): Promise<DocumentNode> => {
    const known = parsedDocuments.get(text)
    // Before it is parsed, a document can only seem to ask for the schema.
    const mayAskForSchema = introspection && text.includes('__')
    const boundsOfStranger = mayAskForSchema ? introspectionOfStranger : withoutCredential
    const tokens = known?.size.tokens ?? countTokens(text, countedTokens(place, boundsOfStranger))
    await requireWithin({ tokens }, boundsOfStranger, place)
    const { document, size } = known ?? parse(text, tokens)
    const asksForSchema = mayAskForSchema && isIntrospection(document)
    await requireWithin(size, asksForSchema ? introspectionOfStranger : withoutCredential, place)
    return document
  }

  const parse = (text: string, tokens: number): ParsedDocument => {
    const document = parseDocument(text)
    const parsed = { document, size: { tokens, ...measureSelections(document, withCredential.fields) } }
    if (text.length <= CACHED_CHARACTERS_MAX) parsedDocuments.set(text, parsed)
    return parsed
  }

  const parseTrusted = (text: string): DocumentNode => {
    const document = trustedDocuments.get(text) ?? parseDocument(text)
    trustedDocuments.set(text, document)
    return document
  }

  return {
    /** Counts a document that was refused for its size; throws the error that the client gets. */
    refuse,
    /** Counts a document that was refused for its inputs, unless its sender has a valid credential. */
    async countWrongInputs(place: OperationPlace): Promise<void> {
      const credential = await readCredential(services, place)
      if (credential.caller === undefined) await countUnknown(place, credential)
    },
    /**
     * Parses the document of a request, unless its address has sent too many that were refused, or it is larger than its sender
     * may make it. Of a request that carries a credential an invalid one is always the reason, and never the size.
     *
     * @throws Problem `rate_limited`, `operation_too_large`, `method_not_allowed`, `invalid_request`, or with status 401
     * @throws GraphQLError `document_malformed`, `invalid_request`
     */
    async admit(params: RequestParams, place: OperationPlace): Promise<DocumentNode> {
      await requireOpen(params, place)
      const text = requireQuery(params)
      const document = trusts(text) ? parseTrusted(text) : await parseWithinBounds(text, place)
      requireOperation(schema, document, params.operationName, place)
      return document
    },
  }
}

interface ParsedDocument {
  readonly document: DocumentNode
  readonly size: DocumentSize
}

/** Few and short ones are kept for the next request, because anybody can fill this. What does not parse is not kept. */
const CACHED_DOCUMENTS_MAX = 100
const CACHED_CHARACTERS_MAX = 8_192

/** Whether a request carries no credential, so that none can be valid. */
function isStranger({ http }: OperationPlace): boolean {
  return http.headers.authorization === undefined
}

/** Whether an operation has one field of its root type, which is the login. */
function onlyLogsIn(document: DocumentNode, operationName: unknown): boolean {
  const operation = getOperationAST(document, typeof operationName === 'string' ? operationName : undefined)
  return (
    operation?.operation === OperationTypeNode.MUTATION &&
    operation.selectionSet.selections.length === 1 &&
    rootFieldNames(document, operation).join() === 'login'
  )
}

/** Whether a document does nothing but ask for the schema. */
function isIntrospection(document: DocumentNode): boolean {
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  return (
    operations.length === 1 &&
    operations.every((operation) =>
      rootFieldNames(document, operation).every((name) => name.startsWith('__')),
    )
  )
}

/**
 * Requires that a request says which operation it wants, by a method that may carry it: what changes something, or starts a
 * chat, is never in a URL, which browsers, proxies and crawlers may repeat.
 */
function requireOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  name: unknown,
  { http }: OperationPlace,
): void {
  const operation = getOperationAST(document, typeof name === 'string' ? name : undefined)
  if (operation == null) {
    refuseField(['operationName'], 'expected the name of one of the operations of the document.')
  }
  if (http.method === 'POST') return
  if (operation.operation === OperationTypeNode.MUTATION) fail('method_not_allowed', MUTATION_BY_GET)
  const subscriptions = schema.getSubscriptionType()?.getFields() ?? {}
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return
  const isStarting = (field: string) => subscriptions[field]?.extensions.startsCall === true
  if (rootFieldNames(document, operation).some(isStarting)) fail('method_not_allowed', CHAT_BY_GET)
}

const MUTATION_BY_GET = 'A mutation needs POST.'
const CHAT_BY_GET = 'A chat needs POST.'
