import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type GatewayWithSandbox, startGatewayWithSandbox } from '../support/gateway-with-sandbox.ts'

// A process, because the documents are read from a file when a gateway starts, and every way to send one must obey.

const AGENTS = '{ agents { id } }'
const hash = createHash('sha256').update(AGENTS).digest('hex')
const persistedQuery = { version: 1, sha256Hash: hash }

async function withDocuments(graphql: object, work: (system: GatewayWithSandbox) => Promise<void>) {
  const system = await startGatewayWithSandbox({ settings: { graphql } })
  try {
    await work(system)
  } finally {
    await system.remove()
  }
}

/** Sends these parameters in each of the ways in which an operation can reach the gateway. */
async function outcomesOf({ gateway, key }: GatewayWithSandbox, params: Record<string, unknown>) {
  const url = `${gateway.url}/graphql`
  const headers = { authorization: `Bearer ${key}` }
  const post = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(params),
  })
  const search = Object.entries(params).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const get = await fetch(`${url}?${new URLSearchParams(search)}`, { headers })
  // biome-ignore lint/suspicious/noExplicitAny: results have the shape of their documents
  const results: any[] = [await post.json(), await get.json()]
  return results.map(({ data, errors }) => errors?.[0].extensions.code ?? Object.keys(data).join())
}

const everywhere = (outcome: string) => [outcome, outcome]

test('persisted: a hash is enough once its document was sent', async () => {
  await withDocuments({ documents: 'persisted' }, async (system) => {
    const byHash = { extensions: { persistedQuery } }
    expect(await outcomesOf(system, byHash)).toEqual(everywhere('document_not_found'))
    expect(await outcomesOf(system, { query: AGENTS, ...byHash })).toEqual(everywhere('agents'))
    expect(await outcomesOf(system, byHash)).toEqual(everywhere('agents'))
    const wrong = { query: '{ me { id } }', ...byHash }
    expect(await outcomesOf(system, wrong)).toEqual(everywhere('invalid_request'))
  })
})

test('trusted: nothing but the documents of the file is executed, on no way', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trusted-'))
  const trustedDocuments = join(folder, 'documents.json')
  await writeFile(trustedDocuments, JSON.stringify({ [hash]: AGENTS }))
  try {
    await withDocuments({ documents: 'trusted', trustedDocuments }, async (system) => {
      expect(await outcomesOf(system, { extensions: { persistedQuery } })).toEqual(everywhere('agents'))
      expect(await outcomesOf(system, { query: AGENTS })).toEqual(everywhere('agents'))
      const page = await fetch(`${system.gateway.url}/graphql`, { headers: { accept: 'text/html' } })
      expect(await page.text()).toMatch(/executes only the documents that its operator trusts/)
      const other = { query: '{ __schema { types { name } } }' }
      expect(await outcomesOf(system, other)).toEqual(everywhere('document_not_trusted'))
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
