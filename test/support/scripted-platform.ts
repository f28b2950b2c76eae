import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** A platform whose replies the test writes itself, for replies that no emulator sends. */
export interface ScriptedPlatform {
  readonly origin: string
  close(): Promise<void>
}

export type Answering = (
  path: string,
  body: Readonly<Record<string, unknown>>,
  response: ServerResponse,
) => void | Promise<void>

export async function startScriptedPlatform(answer: Answering): Promise<ScriptedPlatform> {
  const server = createServer(async (request, response) => {
    response.on('error', () => undefined)
    try {
      await answer(request.url ?? '', (await json(request)) as Record<string, unknown>, response)
    } catch {
      // The gateway closed the connection during a write.
      response.destroy()
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export function sse(...events: readonly (object | string)[]): string {
  return events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join('')
}

/** Resolves when the response can be written to again or the client has disconnected. */
export async function written(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw new Error('the client has left')
  if (response.write(text)) return
  await new Promise<void>((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle)
      resolve()
    }
    response.once('drain', settle).once('close', settle)
  })
}
