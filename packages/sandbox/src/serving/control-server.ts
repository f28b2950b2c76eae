import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Answer, json } from './answer.ts'
import { asRecord } from './narrow.ts'
import { isOutage, OUTAGES, type SandboxControl } from './outage.ts'

/** A server through which another program makes emulators fail. */
export type ControlServer = Awaited<ReturnType<typeof startControlServer>>

/**
 * Starts the server: `GET /` returns what is wrong with each emulator, and `POST /<name>/fail` changes it. It is a server of its own,
 * since an emulator that refuses connections could not get the request to accept them again, and it listens on loopback alone.
 *
 * @param port - 0 selects a free one
 */
export async function startControlServer(port: number, controls: Readonly<Record<string, SandboxControl>>) {
  const server = createServer(async (request, response) => {
    const { status, headers, body } = await answer(request, controls).catch((error: unknown) =>
      problem(500, String(error)),
    )
    response.writeHead(status, headers).end(`${body}\n`)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close(): void {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(
  request: IncomingMessage,
  controls: Readonly<Record<string, SandboxControl>>,
): Promise<Answer> {
  const { method, url = '/' } = request
  if (method === 'GET' && url === '/') {
    const states = Object.entries(controls).map(([name, { outage = 'none' }]) => [name, outage])
    return json(200, Object.fromEntries(states))
  }
  const [, name = ''] = /^\/([a-z0-9-]+)\/fail$/.exec(url) ?? []
  const control = Object.hasOwn(controls, name) ? controls[name] : undefined
  if (method !== 'POST' || control === undefined) {
    const names = Object.keys(controls).join(', ')
    return problem(404, `Expected GET / or POST /<name>/fail, where the name is one of ${names}.`)
  }
  const { fault } = parse(await text(request))
  if (fault !== 'none' && !isOutage(fault)) {
    return problem(400, `Expected {"fault": "<word>"}, where the word is one of ${WORDS}.`)
  }
  if (fault === 'none') await control.recover()
  else await control.fail(fault)
  return json(200, { [name]: fault })
}

const WORDS = [...Object.keys(OUTAGES), 'none'].join(', ')

function parse(body: string) {
  try {
    return asRecord(JSON.parse(body))
  } catch {
    return {}
  }
}

function problem(status: number, error: string): Answer {
  return json(status, { error })
}
