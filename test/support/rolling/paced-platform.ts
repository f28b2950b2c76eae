import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** An OpenAI-compatible platform whose replies last as long as their query asks for: `for 1500 ms`. */
export interface PacedPlatform {
  readonly baseUrl: string
  close(): Promise<void>
}

const CHUNK_EVERY_MS = 500

export async function startPacedPlatform(): Promise<PacedPlatform> {
  const server = createServer(async (request, response) => {
    // The gateway asks for its models, to know whether it answers.
    if (request.method !== 'POST') return void response.writeHead(200).end('{}')
    const { messages } = (await json(request)) as { messages: { content: string }[] }
    const lastMs = Number(/for (\d+) ms/.exec(messages.at(-1)?.content ?? '')?.[1] ?? 0)
    const endsAtMs = performance.now() + lastMs
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ delta: { role: 'assistant', content: 'Paced' } }))
    const next = () => {
      const leftMs = endsAtMs - performance.now()
      if (response.destroyed) return
      if (leftMs <= 0) {
        response.end(`${chunk({ delta: { content: '.' }, finish_reason: 'stop' })}data: [DONE]\n\n`)
        return
      }
      response.write(chunk({ delta: { content: ' and on' } }))
      setTimeout(next, Math.min(leftMs, CHUNK_EVERY_MS))
    }
    next()
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 })
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function chunk(choice: object): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'paced', choices: [{ index: 0, finish_reason: null, ...choice }] })}\n\n`
}
