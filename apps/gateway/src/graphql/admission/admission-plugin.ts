import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
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
      let endTurn: (() => void) | undefined
      try {
        endTurn = await takeLargeDocumentTurn(services, params, context)
        const found = find(params)
        setParams(found)
        context.admitted.document = await admission.admit(found, context)
      } catch (error) {
        endTurn?.()
        observer.graphqlError(String(toGraphqlError(error).extensions.code))
        throw error
      }
      if (endTurn !== undefined) setParamsHandler((payload) => after(paramsHandler(payload), endTurn))
    },
    onParse({ context, setParsedDocument }) {
      const { document } = (context as OperationPlace).admitted
      if (document !== undefined) setParsedDocument(document)
    },
  }
}

async function after<Result>(work: Result | PromiseLike<Result>, end: () => void): Promise<Result> {
  try {
    return await work
  } finally {
    end()
  }
}

/**
 * Counts documents of which every field was refused for want of a valid credential. Must come after the plugin that gives
 * errors their status.
 */
export function useRefusalCount(): Plugin<GraphqlContext> {
  const count = async (context: unknown, result: ExecutionResult): Promise<void> => {
    const { services, http } = context as GraphqlContext
    if (isRefused(result)) await services.refusedDocuments.count(unknownSender(http))
  }
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: ({ result }) => (isAsyncIterable(result) ? undefined : count(args.contextValue, result)),
    }),
    onSubscribe: ({ args }) => ({
      onSubscribeResult({ result }) {
        if (!isAsyncIterable(result)) void markRejectionHandled(count(args.contextValue, result))
      },
    }),
  }
}

/** Failed logins have limits of their own. */
function isRefused({ data, errors }: ExecutionResult): boolean {
  if (errors === undefined) return false
  const refused = new Set<unknown>()
  for (const { path, extensions } of errors) {
    if (extensions.status === 401 && extensions.code !== 'login_failed') refused.add(path?.[0])
  }
  const fields = Object.keys(data ?? {})
  // A subscription that does not begin has no data at all.
  return fields.length === 0
    ? refused.size > 0
    : fields.every((name) => refused.has(name) && data?.[name] === null)
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
): Promise<(() => void) | undefined> {
  if ((query?.length ?? 0) <= LARGE_CHARACTERS) return undefined
  const { caller } = await readCredential(services, place)
  return caller && services.reads.beginLarge(caller, place.signal)
}
