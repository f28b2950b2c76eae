import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type ScriptedPlatform, sse, startScriptedPlatform } from './scripted-platform.ts'

/** A platform whose only running reply is written step by step. */
export interface Steps extends ScriptedPlatform {
  /** Resolves when the text has been written. */
  send(text: string): Promise<void>
  end(text: string): Promise<void>
}

export async function startSteps(): Promise<Steps> {
  let running = Promise.withResolvers<ServerResponse>()
  const platform = await startScriptedPlatform(async (_path, _body, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const mine = running
    mine.resolve(response)
    await once(response, 'close')
    // Also one that the gateway has stopped, after which the next reply runs.
    if (mine === running) running = Promise.withResolvers()
  })
  const chunk = (content: string, finish: string | null = null) =>
    sse({
      ...{ id: 'c', object: 'chat.completion.chunk', model: 'steps' },
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    })
  const write = async (text: string) => {
    const response = await running.promise
    await new Promise<void>((resolve) => response.write(text, () => resolve()))
  }
  return {
    ...platform,
    send: (text) => write(chunk(text)),
    async end(text) {
      await write(chunk(text, 'stop') + sse('[DONE]'))
      ;(await running.promise).end()
      running = Promise.withResolvers()
    },
  }
}
