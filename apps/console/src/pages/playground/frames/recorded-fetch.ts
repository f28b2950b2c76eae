import { type Exchange, exchangeOf } from './exchange.ts'

/** More than this of a reply is not kept for the view of its raw frames. */
const KEPT_CHARACTERS = 1_000_000

interface Recorder {
  /** Takes the headers of a request that has been answered, or has failed. */
  exchanged(exchange: Exchange): void
  /** Takes the next piece of a response, as the gateway has sent it. */
  record(text: string): void
  /** A response has ended, or its connection was lost. */
  ended(): void
}

/** A `fetch` that reports the requests, and the responses while they are read. */
export function recordedFetch(
  { exchanged, record, ended }: Recorder,
  send: typeof fetch = fetch,
): typeof fetch {
  let kept = 0
  return async (input, init) => {
    // A request of the same headers without the body, which belongs to the one that is sent.
    const request = new Request(input, { method: init?.method ?? 'GET', headers: init?.headers ?? {} })
    let response: Response
    try {
      response = await send(input, init)
    } catch (error) {
      exchanged(exchangeOf(request, undefined))
      throw error
    }
    exchanged(exchangeOf(request, response))
    if (response.body === null) return response
    const reader = response.body.getReader()
    const decoder = new TextDecoder()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) {
            const text = decoder.decode(value, { stream: true })
            if (kept < KEPT_CHARACTERS) record(text.slice(0, KEPT_CHARACTERS - kept))
            kept += text.length
            controller.enqueue(value)
            return
          }
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        ended()
      },
      cancel: (reason) => reader.cancel(reason),
    })
    const { status, statusText, headers } = response
    return new Response(body, { status, statusText, headers })
  }
}
