/** One server-sent event as FastGPT, Dify and OpenAI write it. */
export function frame(data: string, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`
}

/** The same without the optional space, as Coze and HiAgent write it. */
export function tightFrame(data: string, event: string): string {
  return `event:${event}\ndata:${data}\n\n`
}
