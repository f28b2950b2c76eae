import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Trunkline } from '@trunkline/sdk'
import { expect, test } from 'vitest'
import { startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because what is recorded anew, where the file is missing, are the responses of a gateway as it is started.

/** Responses of a gateway, as they were sent. They are recorded again where the file is missing. */
const RECORDED = join(import.meta.dirname, '../fixtures/sdk/recorded.json')

interface Exchange {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The requests to both, in this order. */
async function run(client: Trunkline, admin: { username: string; password: string }): Promise<unknown[]> {
  const question = { agent: 'fastgpt', app_id: 'app-1', query: 'Hello' }
  const { user } = await client.login(admin)
  const key = await client.apiKeys.current()
  const { items } = await client.agents.list()
  const reply = await client.chat.create({ ...question, detail: true })
  const text = await client.chat.stream(question).text()
  const refused = await client.chat.create({ ...question, agent: 'nobody' }).catch((error) => error)
  const cut = client.chat.stream({ ...question, query: 'Hello sandbox:truncate' })
  const cutReason = await cut.text().catch((error) => error.reason)
  const { totals } = await client.usage.query({ group_by: 'agent' })
  await client.logout()
  const refusal = [refused.name, refused.status, refused.reason, refused.requestId]
  return [user, key, items, reply, text, refusal, cutReason, totals]
}

test('a server that knows nothing but recorded responses serves the client as a gateway does', async () => {
  if (!existsSync(RECORDED)) await record()
  const { exchanges, results, apiKey } = JSON.parse(readFileSync(RECORDED, 'utf8'))
  const left: Exchange[] = [...exchanges]
  const server = createServer((request, response) => {
    const next = left.shift()
    // A request that was not recorded at this place is a failure of the client.
    if (next === undefined || next.method !== request.method || next.path !== request.url) {
      response.writeHead(500).end(`expected ${next?.method} ${next?.path}`)
      return
    }
    response.writeHead(next.status, next.headers).end(next.body)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = new Trunkline({ baseURL, apiKey, maxRetries: 0 })
  expect(await run(client, { username: 'admin', password: 'any password' })).toEqual(results)
  expect(left).toEqual([])
  server.closeAllConnections()
  server.close()
})

async function record(): Promise<void> {
  const system = await startGatewayWithSandbox()
  const exchanges: Exchange[] = []
  const client = new Trunkline({
    baseURL: system.gateway.url,
    apiKey: system.key,
    async fetch(url, init) {
      const response = await fetch(url, init)
      const { pathname, search } = new URL(String(url))
      const headers = Object.fromEntries(
        [...response.headers].filter(([name]) => /^(content-type|x-|retry-after)/.test(name)),
      )
      const body = (await response.clone().text()).replace(/eyJ[\w.-]+/g, 'a-token')
      exchanges.push({
        method: init?.method ?? 'GET',
        path: pathname + search,
        status: response.status,
        headers,
        body,
      })
      return response
    },
  })
  const results = await run(client, system.gateway.admin)
  await system.remove()
  const recorded = JSON.stringify({ apiKey: 'tl_recorded', results, exchanges }, undefined, 2)
  writeFileSync(RECORDED, `${recorded}\n`)
}
