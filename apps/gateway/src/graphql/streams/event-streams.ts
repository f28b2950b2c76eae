import type { FastifyReply } from 'fastify'
import type { ExecutionResult, GraphQLError } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { EventStream, type StreamTimes } from '#http/chat/event-stream.ts'
import type { OperationPlace } from '../context.ts'
import type { Results } from './results.ts'
import { SharedResult } from './shared-updates-plugin.ts'

/**
 * Takes the results of subscriptions, and of operations whose client accepts nothing but an event stream, out of Yoga's hands,
 * so that the route can send them as REST sends its streams: with its headers, its keep-alive comments and its backpressure.
 */
export function useEventStreams(): Plugin<object, OperationPlace> {
  return {
    onResultProcess({ request, result, setResultProcessor, serverContext }) {
      if (Array.isArray(result)) return
      const refusal = isAsyncIterable(result) ? undefined : refusalOf(result)
      if (refusal !== undefined) {
        const { status, headers } = refusal
        setResultProcessor(
          (_result, { Response }) => new Response(resultText(result as ExecutionResult), { status, headers }),
          'application/json',
        )
        return
      }
      if (!isAsyncIterable(result) && !acceptsOnlyEventStream(request.headers.get('accept'))) return
      setResultProcessor((_result, { Response }) => {
        serverContext.streamed.results = result as Results
        return new Response(null)
      }, 'text/event-stream')
    },
  }
}

/** A request that is refused by a status of HTTP is answered so even to clients that take nothing but an event stream. */
function refusalOf({
  errors,
}: ExecutionResult): { status: number; headers: Record<string, string> } | undefined {
  const http = errors?.[0]?.extensions.http as RefusalInHttp | undefined
  if (http?.headers === undefined) return undefined
  return { status: http.status, headers: { 'content-type': JSON_TYPE, ...http.headers } }
}

interface RefusalInHttp {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const JSON_TYPE = 'application/json; charset=utf-8'

export function acceptsEventStream(accept: string | null | undefined): boolean {
  return (
    accept == null || mediaTypes(accept).some((type) => ['text/event-stream', 'text/*', '*/*'].includes(type))
  )
}

function acceptsOnlyEventStream(accept: string | null): boolean {
  const types = mediaTypes(accept ?? '*/*')
  return types.includes('text/event-stream') && !types.some((type) => RESULT_TYPES.has(type))
}

const RESULT_TYPES: ReadonlySet<string> = new Set([
  'application/graphql-response+json',
  'application/json',
  'application/*',
  '*/*',
])

function mediaTypes(accept: string): string[] {
  return accept.split(',').map((range) => range.replace(/;.*/s, '').trim().toLowerCase())
}

/** Starts an event stream. Browsers report it as open with its first byte. */
export function openEventStream(reply: FastifyReply, times: StreamTimes): EventStream {
  const stream = new EventStream(reply, times)
  stream.write(':\n\n')
  return stream
}

/** Sends results as the distinct connections mode of the GraphQL over SSE protocol has them, until the client leaves. */
export async function sendResults(reply: FastifyReply, results: Results, times: StreamTimes): Promise<void> {
  const stream = openEventStream(reply, times)
  const left = new AbortController()
  const leave = () => left.abort()
  reply.raw.once('close', leave)
  if (reply.raw.destroyed) leave()
  try {
    await forEachResult(results, left.signal, async (result) => {
      if (!stream.write(`event: next\ndata: ${resultText(result)}\n\n`)) await stream.drained()
    })
    if (!left.signal.aborted) stream.write('event: complete\ndata:\n\n')
  } finally {
    reply.raw.off('close', leave)
    stream.end()
  }
}

/** Passes on one result after the other, until the end or until the client has left, which a silent source would not notice. */
export async function forEachResult(
  results: Results,
  left: AbortSignal,
  take: (result: ExecutionResult) => Promise<void>,
): Promise<void> {
  if (!isAsyncIterable(results)) {
    if (!left.aborted) await take(results)
    return
  }
  const iterator = results[Symbol.asyncIterator]()
  const leave = () => void markRejectionHandled(iterator.return?.())
  left.addEventListener('abort', leave, { once: true })
  if (left.aborted) leave()
  try {
    for (;;) {
      const { value, done } = await iterator.next()
      if (done || left.aborted) return
      await take(value)
    }
  } finally {
    left.removeEventListener('abort', leave)
    leave()
  }
}

/** A result as JSON, without the instructions to Yoga that errors carry. */
export function resultText(result: ExecutionResult): string {
  if (result instanceof SharedResult) return result.text
  if (result.errors === undefined) return JSON.stringify(result)
  return JSON.stringify({ ...result, errors: result.errors.map(publicError) })
}

function publicError(error: GraphQLError): object {
  const { extensions, ...rest } = error.toJSON()
  const { http: _forYoga, ...visible } = extensions ?? {}
  return { ...rest, extensions: visible }
}
