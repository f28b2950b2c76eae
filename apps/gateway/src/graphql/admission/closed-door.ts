import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '#core/errors.ts'
import type { RefusedDocuments } from '#core/limits/refused-documents.ts'
import { problemHeaders } from '#http/reply/problem.ts'
import { recordRefusal } from '#http/reply/refusals.ts'
import { graphqlErrorOf, nameRequest } from '../errors.ts'

/** The problem of an address that has sent too many documents that were refused. */
export function closedProblem(retryAfterSeconds: number): Problem {
  return new Problem('rate_limited', { detail: CLOSED, limit: 'refused_documents', retryAfterSeconds })
}

const CLOSED =
  'Too many documents from this address were refused. Documents with a valid credential are still answered.'

/**
 * Answers requests of strangers from such an address before their body is read. Whether a credential is valid is found out once
 * the rest of the request is known. The answers are made once for each number of seconds: an error, with the stack that it
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
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const mayPass = request.method !== 'POST' || request.headers.authorization !== undefined
    const seconds = mayPass ? undefined : closedSeconds(request.ip)
    if (seconds === undefined) {
      done()
      return
    }
    const { problem, start, end, headers } = answerOf(seconds)
    recordRefusal(request, problem)
    reply
      .status(problem.status)
      .headers(headers)
      .send(start + JSON.stringify(request.id) + end)
  }
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
