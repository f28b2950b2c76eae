import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** An OpenAI-compatible platform that only records queries, so that thousands of calls are cheap. */
export interface Platform {
  readonly baseUrl: string
  /** The queries that reached the platform, in order. */
  readonly received: readonly string[]
  /** Makes every later reply pause after its first fragment until `release` is called. */
  hold(): void
  release(): void
  /** Replies from now on do not pause; those that do go on pausing until `release` is called. */
  letThrough(): void
  /** Resolves when `count` queries in total have reached the platform. */
  receives(count: number): Promise<void>
  close(): Promise<void>
}

export async function startPlatform(): Promise<Platform> {
  const received: string[] = []
  const waiting: { readonly count: number; resolve(): void }[] = []
  let gate: PromiseWithResolvers<void> | undefined
  let held: PromiseWithResolvers<void> | undefined

  const server = createServer(async (request, response) => {
    // Whether the gateway can reach it, for the list of agents.
    if (request.method === 'GET') {
      response.end('{"data":[]}')
      return
    }
    const { messages } = (await json(request)) as { messages: { content: string }[] }
    received.push(messages.at(-1)?.content ?? '')
    for (const { count, resolve } of waiting) if (received.length >= count) resolve()
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ delta: { role: 'assistant', content: 'Counted' } }))
    await gate?.promise
    response.end(`${chunk({ delta: { content: '.' }, finish_reason: 'stop' })}data: [DONE]\n\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    received,
    hold() {
      gate ??= Promise.withResolvers()
    },
    release() {
      gate?.resolve()
      held?.resolve()
      gate = undefined
      held = undefined
    },
    letThrough() {
      held = gate
      gate = undefined
    },
    receives(count) {
      return new Promise((resolve) => {
        if (received.length >= count) resolve()
        else waiting.push({ count, resolve })
      })
    },
    async close() {
      gate?.resolve()
      held?.resolve()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function chunk(choice: object): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'counting', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`
}
