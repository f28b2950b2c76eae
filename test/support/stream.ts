/** The payloads of a stream's events, in order. */
export function payloadsOf(stream: string): string[] {
  return stream.split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []))
}

/** What a client puts together from the chunks of a stream. */
export function contentOf(stream: string): string {
  return payloadsOf(stream)
    .filter((payload) => payload !== '[DONE]')
    .map((payload) => JSON.parse(payload).choices?.[0].delta.content ?? '')
    .join('')
}

/** A reply that is read as far as a test wants to. */
export function readerOf({ body }: Response) {
  if (body === null) throw new Error('the reply has no body')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    /** Reads on until the text so far matches; returns it. */
    async until(pattern: RegExp): Promise<string> {
      while (!pattern.test(text)) {
        const { done, value } = await reader.read()
        if (done) throw new Error(`the reply ended without ${pattern}: ${text}`)
        text += value
      }
      return text
    },
    /** Reads to the end; returns all of it. */
    async rest(): Promise<string> {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return text
        text += value
      }
    },
  }
}
