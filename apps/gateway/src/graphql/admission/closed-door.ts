import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/base/errors/errors.ts'
import type { DocumentSender, RefusedDocuments } from '#core/limits/refused-documents.ts'

type ClosedSenders = Pick<RefusedDocuments, 'closedSeconds'>

/** The problem of a sender of too many documents that were refused; undefined if its documents are read. */
export function closedProblem({ closedSeconds }: ClosedSenders, sender: DocumentSender): Problem | undefined {
  const retryAfterSeconds = closedSeconds(sender)
  if (retryAfterSeconds === undefined) return undefined
  const cause = sender.kind === 'caller' ? CLOSED_TO_CALLER : CLOSED
  const detail = `The limit \`refused_documents\` is reached: ${cause} Try again in ${retryAfterSeconds} seconds.`
  return new Problem('rate_limited', { detail, limit: 'refused_documents', retryAfterSeconds })
}

const CLOSED =
  'too many documents from this address were refused. Documents with a valid credential are still answered, and those that only log in.'
const CLOSED_TO_CALLER =
  'too many documents of this credential were refused. Those that are no larger than without a credential are still answered.'

/** The sender of a request that has no valid credential. */
export function unknownSender({ ip, headers }: Pick<FastifyRequest, 'ip' | 'headers'>): DocumentSender {
  return { kind: headers.authorization === undefined ? 'stranger' : 'invalid credential', address: ip }
}

/** Whether a document may be one that logs in, which is short. It is parsed only then. */
export function isShortLogin(text: string): boolean {
  return text.length <= LOGIN_CHARACTERS_MAX && /\blogin\b/.test(text)
}

const LOGIN_CHARACTERS_MAX = 2_000

/**
 * Refuses requests of strangers from such an address before anything of GraphQL runs, once it is known that they cannot log in.
 * Whether a credential is valid is found out once the rest of the request is known.
 */
export function createClosedDoor(senders: ClosedSenders) {
  return (request: FastifyRequest, _reply: FastifyReply, done: (problem?: Problem) => void): void => {
    const sender = unknownSender(request)
    const isStranger = request.method === 'POST' && sender.kind === 'stranger'
    const closed = isStranger ? closedProblem(senders, sender) : undefined
    done(closed !== undefined && mayLogIn(request.body) ? undefined : closed)
  }
}

/** Whether the document of a request, which its id may stand for, may be one that logs in. */
function mayLogIn(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { query } = body as { readonly query?: unknown }
  return typeof query === 'string' ? isShortLogin(query) : 'documentId' in body || 'extensions' in body
}

/**
 * Counts a request whose large body was refused unread, for want of a valid credential, as a refused document.
 *
 * @throws Problem `rate_limited` if its sender has sent too many
 */
export async function countUnread(
  senders: RefusedDocuments,
  request: FastifyRequest,
  { status }: Problem,
): Promise<void> {
  if (status !== 401 && status !== 413) return
  const sender = unknownSender(request)
  const closed = closedProblem(senders, sender)
  if (closed !== undefined) throw closed
  await senders.count(sender)
}
