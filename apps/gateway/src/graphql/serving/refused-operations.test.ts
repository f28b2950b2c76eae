import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createLogger } from '#ops/logger.ts'
import { createServer } from '#server/create-server.ts'
import { ANSWERING_AGENT, FAILING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Face, openFace } from '#test/graphql/face.test-support.ts'
import { sentAgain } from '#test/graphql/sent-again.test-support.ts'

type Documents = 'any' | 'persisted' | 'trusted'

let face: Face
let folder: string
/** Gateways as in production, by the documents that they execute. */
let apps: Readonly<Record<Documents, Face['app']>>

const AGENTS = '{ agents { id } }'
const LOGOUT = 'mutation { logout }'
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const persisted = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(text) } })

beforeAll(async () => {
  face = await openFace()
  folder = mkdtempSync(join(tmpdir(), 'trusted-'))
  const trustedDocuments = join(folder, 'documents.json')
  writeFileSync(trustedDocuments, JSON.stringify({ [hashOf(AGENTS)]: AGENTS, [hashOf(LOGOUT)]: LOGOUT }))
  const appOf = (documents: Documents) => {
    const graphql = { introspection: false, graphiql: false, documents, trustedDocuments }
    return createServer({ ...face.config, graphql }, face.gateway, createLogger('silent'))
  }
  apps = { any: await appOf('any'), persisted: await appOf('persisted'), trusted: await appOf('trusted') }
})
afterAll(async () => {
  for (const app of Object.values(apps ?? {})) await app.close()
  if (folder !== undefined) rmSync(folder, { recursive: true })
  await face?.close()
})

const post = (payload: object): InjectOptions => ({ method: 'POST', payload })
const get = (parameters: Readonly<Record<string, unknown>>): InjectOptions => ({
  method: 'GET',
  query: Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ),
})

function asCaller(request: InjectOptions, as: keyof Face['callers']): InjectOptions {
  const headers = { authorization: `Bearer ${face.callers[as].credential}`, ...request.headers }
  return { url: '/graphql', ...request, headers }
}

function send(documents: Documents, request: InjectOptions, as: keyof Face['callers'] = 'admin') {
  return apps[documents].inject(asCaller(request, as))
}

const times = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ')
const deep = (levels: number): string =>
  levels === 0 ? 'id' : `owner { apiKeys { nodes { ${deep(levels - 1)} } } }`
const ALIASES = `{ ${times(60, (n) => `a${n}: me { ...F }`)} } fragment F on User { ${times(17, (n) => `b${n}: id`)} }`
const PAGES = 'users(first: 100) { nodes { apiKeys(first: 100) { nodes { id name description } } } }'
const CHAT = 'subscription { chat(input: { agentId: "answering", query: "Hello" }) { __typename } }'

const REFUSALS: Readonly<Record<string, [code: string, documents: Documents, request: InjectOptions]>> = {
  'is too deep': ['operation_too_large', 'any', post({ query: `{ apiKeys { nodes { ${deep(5)} } } }` })],
  'has too many aliases': ['operation_too_large', 'any', post({ query: ALIASES })],
  'has too many tokens': [
    'operation_too_large',
    'any',
    post({ query: `{ ${times(2_000, () => '__typename')} }` }),
  ],
  'costs too much': ['operation_too_large', 'any', post({ query: `{ ${PAGES} }` })],
  'costs too much by a variable': [
    'operation_too_large',
    'any',
    post({
      query: `query ($n: Int) { ${PAGES.replaceAll('100', '$n')} }`,
      variables: { n: 100 },
    }),
  ],
  'is one of a batch': ['invalid_request', 'any', post([{ query: '{ me { id } }' }])],
  'is a mutation over GET': ['method_not_allowed', 'any', get({ query: LOGOUT })],
  'is a mutation of the file over GET': [
    'method_not_allowed',
    'trusted',
    get({ documentId: hashOf(LOGOUT) }),
  ],
  'reads the schema': [
    'document_invalid',
    'any',
    post({ query: '{ __schema { types { name } } me { id } }' }),
  ],
  'does not parse': ['document_malformed', 'any', post({ query: '{ me { id }' })],
  'does not fit the schema': ['document_invalid', 'any', post({ query: '{ me { nothing } }' })],
  'is a hash, where none are kept': ['document_not_found', 'any', get({ extensions: persisted(AGENTS) })],
  'is a hash that is not known': [
    'document_not_found',
    'persisted',
    post({ extensions: persisted('{ me { id } }') }),
  ],
  'is a hash of another document': [
    'invalid_request',
    'persisted',
    post({ query: '{ me { id } }', extensions: persisted(AGENTS) }),
  ],
  'is not in the file': ['document_not_trusted', 'trusted', post({ query: '{ me { id } }' })],
  'is an id that is not in the file': [
    'document_not_found',
    'trusted',
    get({ documentId: hashOf('{ me { id } }') }),
  ],
  'is a subscription whose results the client does not take': [
    'not_acceptable',
    'any',
    { ...post({ query: CHAT }), headers: { accept: 'application/json' } },
  ],
}

/** The look-up of a credential: for the answer where the size alone is wrong, and else, in the background, for the record. */
const lookUp = (as: keyof Face['callers']) =>
  face.statements(() =>
    face.gateway.services.authentication.authenticate(
      face.callers[as].credential,
      { address: '127.0.0.1', requestId: 'test' },
      () => undefined,
    ),
  )

/** The statements of the work, which must record one refusal. */
async function statementsOf(work: () => Promise<void>): Promise<string[]> {
  const record = vi.spyOn(face.gateway.refusals, 'record')
  const recorded = async () => {
    await work()
    // It is recorded when the look-up is over.
    await vi.waitFor(() => expect(record).toHaveBeenCalledTimes(1))
  }
  const all = await face.statements(recorded).finally(() => record.mockRestore())
  // Refusals are written every five seconds, whatever is read meanwhile.
  return all.filter((statement) => !statement.includes('refusal_counts'))
}

test.each(Object.entries(REFUSALS))(
  'an operation that %s is refused without a statement but the one that its credential may need',
  async (_name, refusal) => {
    const [code, documents, request] = refusal
    for (const as of ['admin', 'chat key'] as const) {
      const work = async () => {
        const { errors, data } = (await send(documents, request, as)).json()
        expect(data).toBeUndefined()
        const codes = errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code)
        expect(new Set(codes)).toEqual(new Set([code]))
      }
      const needed = await lookUp(as)
      const first = await statementsOf(work)
      const again = await statementsOf(work)
      // The process sends statements of its own meanwhile, but hardly the same one both times.
      const made = first.filter((statement) => again.includes(statement))
      // A look-up that has just been made is partly known.
      expect(made.filter((statement) => !needed.includes(statement))).toEqual([])
    }
  },
)

test('the look-up of a credential is a statement that would be counted', async () => {
  const work = async () => {
    const { data } = (await send('any', post({ query: '{ me { id } }' }))).json()
    expect(data.me.id).toBe(face.callers.admin.principal?.userId)
  }
  expect(await face.statementsOf(work)).toBeGreaterThan(0)
})

test('a document is found over GET by the id of the file, and by its hash once it was sent', async () => {
  const ids = async (documents: Documents, parameters: Readonly<Record<string, unknown>>) => {
    const { data, errors } = (await send(documents, get(parameters))).json()
    return errors?.[0].extensions.code ?? data.agents.map(({ id }: { id: string }) => id).sort()
  }

  const all = [ANSWERING_AGENT, FAILING_AGENT].sort()
  expect(await ids('trusted', { documentId: hashOf(AGENTS) })).toEqual(all)
  expect(await ids('trusted', { documentId: `sha256:${hashOf(AGENTS)}` })).toEqual(all)
  expect(await ids('trusted', { extensions: persisted(AGENTS) })).toEqual(all)
  expect(await ids('persisted', { extensions: persisted(AGENTS) })).toBe('document_not_found')
  expect(await ids('persisted', { query: AGENTS, extensions: persisted(AGENTS) })).toEqual(all)
  expect(await ids('persisted', { extensions: persisted(AGENTS) })).toEqual(all)
})

// Last, because refusals are recorded after their answers, and the tests before count the records.
test.each(Object.entries(REFUSALS))(
  'an operation that %s is refused alike each time',
  async (_name, refusal) => {
    const [code, documents, request] = refusal
    const { errors } = (await sentAgain(apps[documents], asCaller(request, 'admin'))).json()
    expect(errors[0].extensions.code).toBe(code)
  },
)
