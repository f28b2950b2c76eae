/** More than this of a reply is not kept for the view of its raw frames. */
const KEPT_CHARACTERS = 1_000_000

/** A `fetch` that passes the text of each response on to `record` while it is read, as the gateway has sent it. */
export function recordedFetch(record: (text: string) => void, send: typeof fetch = fetch): typeof fetch {
  let kept = 0
  return async (input, init) => {
    const response = await send(input, init)
    if (response.body === null) return response
    const decoder = new TextDecoder()
    const recorder = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        const text = decoder.decode(bytes, { stream: true })
        if (kept < KEPT_CHARACTERS) record(text.slice(0, KEPT_CHARACTERS - kept))
        kept += text.length
        controller.enqueue(bytes)
      },
    })
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(recorder), { status, statusText, headers })
  }
}
