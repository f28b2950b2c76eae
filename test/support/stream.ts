/** Returns the payloads of an event stream, in order. */
export function payloadsOf(stream: string): string[] {
  return stream.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []))
}

/** Joins the text of a stream's chunks, as a client does. */
export function contentOf(stream: string): string {
  return framesOf(stream)
    .map(({ choices }) => choices?.[0].delta.content ?? '')
    .join('')
}

/** Returns what an event stream contains as JSON, whether its events have names or not. */
export function framesOf(stream: string) {
  return stream
    .split('\n\n')
    .flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? [])
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => JSON.parse(payload))
}

/** Reads a response body step by step. */
export function readerOf({ body }: Response) {
  if (body === null) throw new Error('the reply has no body')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    /** Reads until the text so far matches, and returns it. */
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(text)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the reply ended without ${pattern}: ${text}`)
        text += value
      }
      return text
    },
    /** Reads to the end, and returns the whole text. */
    async rest(): Promise<string> {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text
        text += value
      }
    },
  }
}
