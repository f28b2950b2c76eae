import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Services } from '#core/services/services.ts'
import { type GraphqlContext, type OperationPlace, readCredential } from '../context.ts'
import { toGraphqlError } from '../errors.ts'
import type { DocumentAdmission } from './admit-document.ts'
import { unknownSender } from './closed-door.ts'
import type { FindDocument } from './documents.ts'
import { paramsOfUrl, requireParams } from './request-params.ts'

export interface AdmissionPluginOptions {
  readonly services: Pick<Services, 'authentication' | 'reads'>
  readonly find: FindDocument
  readonly admission: DocumentAdmission
  /** Called with the code of each refusal here, since the request does not reach the other plugins. */
  readonly observer: { graphqlError(code: string): void }
}

/**
 * Takes the parameters of a request as Fastify has parsed them, finds the document and admits it. Yoga would read the body of a
 * POST itself, in any of five media types, and wait for ever for one that has been read; and its errors repeat what it read.
 */
export function useAdmission({
  services,
  find,
  admission,
  observer,
}: AdmissionPluginOptions): Plugin<GraphqlContext, OperationPlace> {
  return {
    onRequestParse({ request, serverContext: { http }, setRequestParser }) {
      setRequestParser(() => (request.method === 'POST' ? requireParams(http.body ?? {}) : paramsOfUrl(http)))
    },
    async onParams({ params, setParams, paramsHandler, setParamsHandler, context }) {
      let endTurn = NO_TURN
      try {
        endTurn = await takeLargeDocumentTurn(services, params, context)
        const found = find(params)
        setParams(found)
        context.admitted.document = await admission.admit(found, context)
        setParamsHandler((payload) => Promise.resolve(paramsHandler(payload)).finally(endTurn))
      } catch (error) {
        endTurn()
        observer.graphqlError(String(toGraphqlError(error).extensions.code))
        throw error
      }
    },
    onParse({ context, setParsedDocument }) {
      const { document } = (context as OperationPlace).admitted
      if (document !== undefined) setParsedDocument(document)
    },
  }
}

/** Counts documents of which every field was refused for want of a valid credential. */
export function useRefusalCount({
  refusedDocuments,
}: Pick<Services, 'refusedDocuments'>): Plugin<object, OperationPlace> {
  return {
    async onResultProcess({ result, serverContext: { http } }) {
      if (Array.isArray(result) || isAsyncIterable(result) || !isRefused(result)) return
      await refusedDocuments.count(unknownSender(http))
    },
  }
}

/** Failed logins have limits of their own. An error without a path is of the whole request, and counted where it is made. */
function isRefused({ data, errors = [] }: ExecutionResult): boolean {
  const ofCredential = errors.filter(
    ({ extensions: { status, code } }) => status === 401 && code !== 'login_failed',
  )
  const refused = new Set(ofCredential.flatMap(({ path }) => path?.[0] ?? []))
  // A subscription that does not begin has no data at all.
  const fields = Object.entries(data ?? {})
  return refused.size > 0 && fields.every(([name, value]) => refused.has(name) && value === null)
}

/**
 * A document of this length has some 600 tokens, and takes longer to parse, validate and execute than a chat takes in all.
 * Documents that are known by their ids, such as the console's, are not sent and wait for nothing.
 */
const LARGE_CHARACTERS = 2_500

/**
 * Waits until the large documents that the same user sent before are done, and returns the function that ends the turn. It must
 * be called before the document is parsed: that takes the event loop, and with it the chats of all. Documents without a valid
 * credential may not be large.
 */
async function takeLargeDocumentTurn(
  services: Pick<Services, 'authentication' | 'reads'>,
  { query }: { readonly query?: string | undefined },
  place: OperationPlace,
): Promise<() => void> {
  if ((query?.length ?? 0) <= LARGE_CHARACTERS) return NO_TURN
  const { caller } = await readCredential(services, place)
  return caller === undefined ? NO_TURN : services.reads.beginLarge(caller, place.signal)
}

const NO_TURN = (): void => undefined
