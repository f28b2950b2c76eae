import { eventParser, type ServerEvent } from '../chat/event-parser.ts'
import { AbortError, InvalidResponseError } from '../errors.ts'
import { bytesOf, openBody } from '../transport/byte-source.ts'
import { guardedResponse } from '../transport/guarded-response.ts'
import { onAbort } from '../transport/on-abort.ts'
import { parseJson } from '../transport/parse-json.ts'
import { responseFields } from '../transport/response-fields.ts'
import { invalidResponse } from '../transport/transport.ts'
import type { GraphqlResult } from './graphql-result.ts'

const EXPECTED = 'an event stream'

interface SubscriptionOptions {
  readonly signal: AbortSignal | undefined
  readonly idleTimeoutMs: number | undefined
}

/**
 * Reads the results of a subscription in the distinct connections mode of GraphQL over SSE, each when it is requested: until
 * then nothing is read, and the server waits. Leaving the loop cancels the request.
 *
 * @throws TruncatedStreamError the stream ended without the event `complete`
 * @throws IdleTimeoutError no byte arrived for `idleTimeoutMs`
 * @throws AbortError the signal was aborted
 * @throws InvalidResponseError the body is no event stream, or an event is none of the protocol
 * @throws ConnectionError the connection broke
 */
export async function* readSubscription(
  response: Response,
  { signal, idleTimeoutMs }: SubscriptionOptions,
): AsyncGenerator<GraphqlResult, void, undefined> {
  const { body } = guardedResponse(response, { idleTimeoutMs, isComplete: () => false })
  const source = openBody(body, responseFields(response))
  // The signal holds the source, and not who reads it: a subscription that is dropped is aborted once it is collected.
  const endWaiting = onAbort(signal, () => source.cancel())
  const events = eventParser({ takesEmpty: true })
  try {
    if (!/^\s*text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
      throw invalidResponse(response, EXPECTED)
    }
    for (;;) {
      const read = await source.read()
      // The guard makes an error of any other end.
      if (read.done) throw aborted(response, signal)
      for (const event of events.push(bytesOf(read.value))) {
        if (signal?.aborted) throw aborted(response, signal)
        if (event.event === 'complete') return
        yield resultOf(response, event)
      }
    }
  } finally {
    endWaiting()
    source.cancel()
  }
}

function aborted(response: Response, signal: AbortSignal | undefined): AbortError {
  return new AbortError('The call was aborted.', { ...responseFields(response), cause: signal?.reason })
}

function resultOf(response: Response, { data, event }: ServerEvent): GraphqlResult {
  const result = parseJson(data)
  if (event === 'next' && typeof result === 'object' && result !== null) return result
  throw new InvalidResponseError('An event is not of GraphQL over SSE.', responseFields(response))
}
