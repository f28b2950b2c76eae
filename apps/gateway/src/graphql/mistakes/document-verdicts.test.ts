import { Agent, request as httpRequest } from 'node:http'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'
import { contentOf, sentAgain } from '#test/graphql/sent-again.test-support.ts'
import { schema } from '../schema.ts'
import { wrongRequests } from './wrong-inputs.test-support.ts'

/* A document that is refused is refused every time, although the gateway keeps documents that come again. */

let face: Face
let origin: string
/** Two clients, each with one connection of its own. */
const first = new Agent({ keepAlive: true, maxSockets: 1 })
const second = new Agent({ keepAlive: true, maxSockets: 1 })
const clients = [first, second]

beforeAll(async () => {
  face = await openFace()
  origin = await face.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  for (const client of clients) client.destroy()
  await face?.close()
})

const GRAPHQL = 'application/graphql-response+json'

function send(agent: Agent, payload: object): Promise<ReturnType<typeof contentOf>> {
  const headers = {
    accept: GRAPHQL,
    authorization: `Bearer ${face.callers.admin.credential}`,
    'content-type': 'application/json',
  }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${origin}/graphql`, { method: 'POST', agent, headers }, async (response) => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      resolve(contentOf({ statusCode: response.statusCode ?? 0, body, headers: response.headers }))
    })
    sent.once('error', reject)
    sent.end(JSON.stringify(payload))
  })
}

const createUser = (inputs: string) =>
  `mutation { createUser(input: { username: "somebody", password: "correct horse battery", ${inputs} }) { user { id } } }`

const REFUSED: Readonly<Record<string, readonly [code: string, query: string]>> = {
  'does not parse': ['document_malformed', '{ agents { id }'],
  'has an unknown field': ['document_invalid', '{ agents { zzz } }'],
  'has an unknown argument': ['document_invalid', '{ agents(zzz: 1) { id } }'],
  'lacks an argument': ['document_invalid', '{ user { id } }'],
  'has an argument of another type': ['document_invalid', '{ users(first: "many") { totalCount } }'],
  'has an unknown field and a wrong argument': ['document_invalid', '{ agents(zzz: 1) { zzz } }'],
  'has a value that an enum lacks': ['document_invalid', createUser('role: ROOT')],
  'has a value that an enum lacks, in a list': [
    'document_invalid',
    '{ usage(groupBy: [agent]) { granularity } }',
  ],
  'has such a value in a filter': [
    'document_invalid',
    '{ calls(filter: { outcome: [FOO] }) { totalCount } }',
  ],
  'has an unknown input': ['document_invalid', createUser('zzz: 1')],
  'has a wrong argument below the root': [
    'document_invalid',
    '{ me { apiKeys(state: GONE) { totalCount } } }',
  ],
  'has a wrong argument in a fragment': [
    'document_invalid',
    `query { ...F } fragment F on Query { agents(zzz: 1) { id } }`,
  ],
  'has a wrong condition': ['document_invalid', '{ agents @include(if: "yes") { id } }'],
  'has a wrong default': [
    'document_invalid',
    'query ($first: Int = "many") { users(first: $first) { totalCount } }',
  ],
  'has an unused fragment': ['document_invalid', '{ agents { id } } fragment F on Agent { id }'],
  'is too deep': [
    'operation_too_large',
    `{ me { ${'apiKeys { nodes { owner { '.repeat(6)} id ${'} } }'.repeat(6)} } }`,
  ],
  'is too expensive': [
    'operation_too_large',
    '{ users(first: 100) { nodes { apiKeys(first: 100) { nodes { id name description } } } } }',
  ],
}

describe('a document is refused alike on two connections, twice on each, and beside others, if it', () => {
  test.each(Object.entries(REFUSED))('%s', async (_name, [code, query]) => {
    const users = () => face.gateway.prisma.user.count()
    const before = await users()
    const answers: Awaited<ReturnType<typeof send>>[] = []
    for (const client of [...clients, ...clients]) answers.push(await send(client, { query }))
    const others = Object.values(REFUSED).map(([, other]) => ({ query: other }))
    const batch = [{ query }, ...others, { query: '{ agents { id } }' }, { query }]
    const together = await Promise.all(
      batch.map((each, index) => send(index % 2 === 0 ? first : second, each)),
    )
    answers.push(...together.slice(0, 1), ...together.slice(-1))

    const { data, errors }: Any = JSON.parse(answers[0]?.body ?? '')
    expect([data, errors[0].extensions.code, answers[0]?.statusCode]).toEqual([undefined, code, 400])
    expect(answers).toEqual(answers.map(() => answers[0]))
    expect(await users()).toBe(before)
  })
})

/** Selections with something wrong, which are put together to documents with several mistakes of several kinds. */
const SELECTIONS = [
  ...[...wrongRequests(schema)].flatMap(({ query, wrongInput }) =>
    wrongInput !== undefined && query.startsWith('query { ') ? [query.slice('query { '.length, -2)] : [],
  ),
  'agents { zzz }',
  'agents { id }',
  'zzz',
  '__typename',
  'me { id }',
]

test('a generated document has the same answer each time, alone and beside others', async () => {
  const headers = { authorization: `Bearer ${face.callers.admin.credential}`, accept: GRAPHQL }
  const selections = fc.array(fc.constantFrom(...SELECTIONS), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(selections, fc.string({ maxLength: 8 }), async (chosen, comment) => {
      // The comment makes documents that are not known yet.
      const aliased = chosen.map((selection, index) => `a${index}: ${selection}`)
      const query = `{ ${aliased.join(' ')} } # ${comment.replaceAll(/[\r\n]/g, '')}`
      await sentAgain(face.app, { method: 'POST', url: '/graphql', headers, payload: { query } })
    }),
    { numRuns: process.env.SOAK ? 5_000 : 100 },
  )
}, 60_000)
