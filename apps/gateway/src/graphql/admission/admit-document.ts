import { type DocumentNode, type GraphQLSchema, getOperationAST, OperationTypeNode } from 'graphql'
import { fail, type Problem, refuseField } from '#core/base/errors/errors.ts'
import { BoundedMap } from '#core/base/values/bounded-map.ts'
import { type BoundsBySender, DOCUMENT_BOUNDS } from '#core/limits/document-bounds.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import { type OperationPlace, readCredential } from '../context.ts'
import { parseDocument } from '../mistakes/parse-document.ts'
import { closedProblem, isShortLogin, unknownSender } from './closed-door.ts'
import { excessOf, measureDocument } from './document-size.ts'
import { type RequestParams, requireQuery } from './request-params.ts'
import { rootFieldsOf } from './root-fields.ts'

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
  const parsedDocuments = new BoundedMap<string, DocumentNode>(CACHED_DOCUMENTS_MAX)
  /** As many as the operator has. */
  const trustedDocuments = new Map<string, DocumentNode>()
  /** Tools write these, and they cost no statement; but what multiplies them is bounded for strangers. */
  const introspectionOfStranger = {
    ...withoutCredential,
    tokens: withCredential.tokens,
    fields: withCredential.fields,
  }

  const refuse = async (place: OperationPlace, problem: Problem): Promise<never> => {
    const { caller, problem: invalid } = await readCredential(services, place)
    if (caller !== undefined) await refusedDocuments.count({ kind: 'caller', caller })
    // A database that is away says nothing about the credential.
    else if ((invalid?.status ?? 401) === 401) await refusedDocuments.count(unknownSender(place.http))
    throw invalid ?? problem
  }

  const validCaller = async (place: OperationPlace): Promise<Principal | undefined> => {
    const { caller, problem } = await readCredential(services, place)
    if (problem !== undefined && problem.status >= 500) throw problem
    return caller
  }

  const requireOpen = async (params: RequestParams, place: OperationPlace): Promise<void> => {
    const closed = closedProblem(refusedDocuments, unknownSender(place.http))
    if (closed === undefined || (await validCaller(place)) !== undefined) return
    if (!isLogin(requireQuery(params), params.operationName)) throw closed
  }

  /** Logging in is open to those who share an address with others whose documents were refused. */
  const isLogin = (text: string, operationName: RequestParams['operationName']): boolean =>
    isShortLogin(text) && onlyLogsIn(parse(text, withoutCredential.tokens), operationName)

  const parse = (text: string, tokensMax: number): DocumentNode => {
    const known = parsedDocuments.get(text)
    if (known !== undefined) return known
    const document = parseDocument(text, tokensMax)
    const isWhole = document.definitions.length > 0
    if (isWhole && text.length <= CACHED_CHARACTERS_MAX) parsedDocuments.set(text, document)
    return document
  }

  const parseTrusted = (text: string): DocumentNode => {
    const document = trustedDocuments.get(text) ?? parseDocument(text)
    trustedDocuments.set(text, document)
    return document
  }

  /** @throws Problem if the document is larger than its sender may make it */
  const parseWithinBounds = async (text: string, place: OperationPlace): Promise<DocumentNode> => {
    // Before it is parsed, a document can only seem to ask for the schema.
    const mayAskForSchema = introspection && text.includes('__')
    const mayBeLarge = mayAskForSchema || place.http.headers.authorization !== undefined
    const { tokens } = mayBeLarge ? withCredential : withoutCredential
    const document = parse(text, tokens)
    const size = measureDocument(document, withCredential)
    const bounds = mayAskForSchema && isIntrospection(document) ? introspectionOfStranger : withoutCredential
    const countedTo = { tokens, fields: withCredential.fields }
    const excessOfStranger = excessOf(size, bounds, countedTo, ' (without a valid credential)')
    if (excessOfStranger === undefined) return document
    const caller = await validCaller(place)
    if (caller === undefined) return refuse(place, excessOfStranger)
    // A caller whose documents were refused again and again may send no more than a stranger for a while.
    const closed = closedProblem(refusedDocuments, { kind: 'caller', caller })
    if (closed !== undefined) throw closed
    const excess = excessOf(size, withCredential, countedTo)
    return excess === undefined ? document : refuse(place, excess)
  }

  return {
    /** Counts a document that was refused for its size; throws the error that the client gets. */
    refuse,
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

/** Few and short ones are kept for the next request, because anybody can fill this. What does not parse is not kept. */
const CACHED_DOCUMENTS_MAX = 100
const CACHED_CHARACTERS_MAX = 8_192

/** Whether an operation has one field of its root type, which is the login. */
function onlyLogsIn(document: DocumentNode, operationName: RequestParams['operationName']): boolean {
  const isMutation = getOperationAST(document, operationName)?.operation === OperationTypeNode.MUTATION
  const names = rootFieldsOf({ document, operationName }).map(({ name }) => name.value)
  return isMutation && names.join() === 'login'
}

/** Whether a document does nothing but ask for the schema. */
function isIntrospection(document: DocumentNode): boolean {
  const fields = rootFieldsOf({ document })
  return fields.length > 0 && fields.every(({ name }) => name.value.startsWith('__'))
}

/**
 * Requires that a request says which operation it wants, by a method that may carry it: what changes something, or starts a
 * chat, is never in a URL, which browsers, proxies and crawlers may repeat.
 */
function requireOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: RequestParams['operationName'],
  { http }: OperationPlace,
): void {
  const operation = getOperationAST(document, operationName)
  if (operation == null) {
    refuseField(['operationName'], 'expected the name of one of the operations of the document.')
  }
  if (http.method === 'POST') return
  if (operation.operation === OperationTypeNode.MUTATION) fail('method_not_allowed', 'A mutation needs POST.')
  if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return
  const subscriptions = schema.getSubscriptionType()?.getFields() ?? {}
  const isStarting = rootFieldsOf({ document, operationName }).some(
    ({ name }) => subscriptions[name.value]?.extensions.startsCall === true,
  )
  if (isStarting) fail('method_not_allowed', 'A chat needs POST.')
}
