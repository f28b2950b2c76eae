import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/errors/errors.ts'
import type { DocumentSender, RefusedDocuments } from '#core/limits/refused-documents.ts'
import { problemHeaders } from '#http/response/problem.ts'
import { recordRefusal } from '#http/response/refusals.ts'
import { graphqlErrorOf, nameRequest } from '../errors.ts'

/** The problem of an address that has sent too many documents that were refused. */
export function closedProblem(retryAfterSeconds: number): Problem {
  return closed(CLOSED, retryAfterSeconds)
}

/** The problem of a caller that has sent too many documents that were refused. */
export function closedToCallerProblem(retryAfterSeconds: number): Problem {
  return closed(CLOSED_TO_CALLER, retryAfterSeconds)
}

function closed(cause: string, retryAfterSeconds: number): Problem {
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

/** A document that logs in is short, and its body hardly longer. */
export const LOGIN_CHARACTERS_MAX = 2_000
const LOGIN_BYTES_MAX = 8_192

/** Whether a document may be one that logs in. It is parsed only then. */
export function namesLogin(text: string): boolean {
  return /\blogin\b/.test(text)
}

/**
 * Answers requests of strangers from such an address before their body is read, or, if it is short, once it is known that it
 * cannot log in. Whether a credential is valid is found out once the rest of the request is known. The answers are made once for each number of seconds: an error, with the stack that it
 * records, would cost more than all the rest of the request, and this must cost about as much as any other short answer.
 */
export function createClosedDoor({ closedSeconds }: Pick<RefusedDocuments, 'closedSeconds'>) {
  const answers = new Map<number, Answer>()
  const answerOf = (seconds: number): Answer => {
    const known = answers.get(seconds)
    if (known !== undefined) return known
    const problem = closedProblem(seconds)
    const error = graphqlErrorOf(problem)
    nameRequest([error], REQUEST_ID)
    const [start = '', end = ''] = JSON.stringify({ errors: [error] }).split(JSON.stringify(REQUEST_ID))
    const headers = { ...problemHeaders(problem), 'content-type': 'application/json; charset=utf-8' }
    const answer = { problem, start, end, headers }
    // A window may be an hour long.
    if (answers.size < ANSWERS_MAX) answers.set(seconds, answer)
    return answer
  }
  const guard = (mayPass: (request: FastifyRequest) => boolean) => {
    return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const isStranger = request.method === 'POST' && request.headers.authorization === undefined
      const seconds = isStranger ? closedSeconds(unknownSender(request)) : undefined
      if (seconds === undefined || mayPass(request)) done()
      else sendAnswer(request, reply, seconds)
    }
  }
  const sendAnswer = (request: FastifyRequest, reply: FastifyReply, seconds: number): void => {
    const { problem, start, end, headers } = answerOf(seconds)
    recordRefusal(request, problem)
    reply
      .status(problem.status)
      .headers(headers)
      .send(start + JSON.stringify(request.id) + end)
  }
  return { onRequest: guard(isShort), preHandler: guard(mayLogIn) }
}

/**
 * Counts a request whose large body was refused unread, for want of a valid credential, as a refused document.
 *
 * @throws Problem `rate_limited` if its sender has sent too many
 */
export async function countUnread(
  { closedSeconds, count }: Pick<RefusedDocuments, 'closedSeconds' | 'count'>,
  request: FastifyRequest,
  { status }: Problem,
): Promise<void> {
  if (status !== 401 && status !== 413) return
  const sender = unknownSender(request)
  const retryAfterSeconds = closedSeconds(sender)
  if (retryAfterSeconds !== undefined) throw closedProblem(retryAfterSeconds)
  await count(sender)
}

function isShort({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length'] ?? Infinity) <= LOGIN_BYTES_MAX
}

/** Whether the document of a request, which its id may stand for, may be one that logs in. */
function mayLogIn({ body }: FastifyRequest): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { query } = body as { readonly query?: unknown }
  return typeof query === 'string' ? namesLogin(query) : 'documentId' in body || 'extensions' in body
}

interface Answer {
  readonly problem: Problem
  /** The body before and after the id of the request. */
  readonly start: string
  readonly end: string
  readonly headers: Readonly<Record<string, string>>
}

/** Stands for the id of the request until there is one. */
const REQUEST_ID = '<request id>'

const ANSWERS_MAX = 120
