/** Formats a server-sent event as FastGPT, Dify and OpenAI do. */
export function frame(data: string, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
}

/** Formats a server-sent event without the optional space, as Coze and HiAgent do. */
export function tightFrame(data: string, event: string): string {
  return `event:${event}\ndata:${data}\n\n`
}
