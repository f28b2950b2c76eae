import { vi } from 'vitest'

/** A body that is sent by hand. */
export function openBody(...events: string[]) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const encoder = new TextEncoder()
  const cancelled = vi.fn()
  const body = new ReadableStream<Uint8Array>({
    start(own) {
      controller = own
      for (const event of events) own.enqueue(encoder.encode(event))
    },
    cancel: cancelled,
  })
  return {
    answer: () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
    send: (text: string) => controller?.enqueue(encoder.encode(text)),
    close: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
    cancelled,
  }
}

/** Lets the body be read, which takes turns of the event loop and no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
