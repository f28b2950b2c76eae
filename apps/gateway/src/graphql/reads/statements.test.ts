import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addToRollups } from '#core/database/table-rows.test-support.ts'
import { FAILING_AGENT } from '#test/authorization/callers.test-support.ts'
import { type Any, type Face, openFace } from '#test/graphql/face.test-support.ts'
import { sampled } from '../../../../../test/support/sampled.ts'
import { selectionsBelow } from './selections-below.test-support.ts'

const FEW = 2
const MANY = 50
/** With how many parents a selection is read whose values for 50 of them are more than an operation may return. */
const FEWER = [25, 12, 6, 3]
const DAY_MS = 86_400_000

type NodeType = 'User' | 'ApiKey' | 'Call' | 'Upload'

let face: Face
/** Objects of every type that the administrator may see. */
const ids: Record<NodeType, string[]> = { User: [], ApiKey: [], Call: [], Upload: [] }

beforeAll(async () => {
  face = await openFace({ readPoints: 1_000_000 })
  const { prisma } = face.gateway
  const { ownerId } = face.callers.admin
  const admin = (await read('{ me { id } }')).data.me.id
  for (let n = 0; n < MANY; n += 1) {
    const user = await newUser(admin)
    // Each user has a key, and one has many.
    const keyId = await face.newKey(user)
    if (n % 2 === 0) await face.newKey(ownerId)
    const call = callOf(user, keyId)
    const upload = uploadOf(admin, keyId, call.id)
    await prisma.call.create({ data: call })
    await prisma.upload.create({ data: upload })
    const bucket = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS)
    const counted = { subject: keyId, bucket, agent: FAILING_AGENT, calls: 1, totalTokens: 1 }
    for (const span of ['hour', 'day'] as const) await addToRollups(prisma, { span, ...counted })
    ids.User.push(user)
    ids.ApiKey.push(keyId)
    ids.Call.push(call.id)
    ids.Upload.push(upload.id)
  }
}, 240_000)
afterAll(() => face?.close())

/** Like the administrator, because hashing a password for each would take longer than the test. */
async function newUser(like: string): Promise<string> {
  const { prisma } = face.gateway
  const columns = await prisma.user.findUniqueOrThrow({ where: { id: like } })
  const id = v7()
  await prisma.user.create({ data: { ...columns, id, username: id, usernameKey: id } })
  return id
}

function callOf(ownerId: string, keyId: string) {
  const made = { requestId: 'r', kind: 'chat', face: 'rest', agent: FAILING_AGENT } as const
  return { id: v7(), ...made, ownerId, keyId, instance: v7(), admittedAt: new Date() }
}

function uploadOf(ownerId: string, keyId: string, callId: string) {
  const file = { urlName: 'file.txt', filename: 'file.txt', mediaType: 'text/plain', size: 1n, sha256: '' }
  const times = { createdAt: new Date(), expiresAt: new Date(Date.now() + 3_600_000) }
  return { id: v7(), callId, token: v7(), ...file, ownerId, keyId, createdBy: 'test', ...times }
}

async function read(document: string, variables?: object): Promise<Any> {
  const result = await face.query('admin', document, variables)
  expect(result.errors, document).toBeUndefined()
  return result
}

/** The statements of an operation, and the points that it takes of every rate limit together. */
async function costOf(document: string, variables: object) {
  const before = face.pointsTaken()
  const texts = await face.statements(() => read(document, variables))
  return { statements: texts.length, points: face.pointsTaken() - before, texts }
}

/** Compares few parents with as many as the gateway accepts of this selection, which for most is {@link MANY}. */
async function expectSameCostOf(document: string, variablesFor: (count: number) => object): Promise<void> {
  for (const count of [MANY, ...FEWER]) {
    const { errors } = await face.query('admin', document, variablesFor(count))
    if (errors?.[0]?.extensions.code === 'operation_too_large') continue
    return expectSameCost([document, variablesFor(FEW)], [document, variablesFor(count)])
  }
  expect.fail(`too large for any number of parents: ${document}`)
}

/** Compares up to three times, because the process sends statements of its own in between. */
async function expectSameCost(few: [string, object], many: [string, object]): Promise<void> {
  const seen: unknown[] = []
  for (let run = 0; run < 3; run += 1) {
    const [ofFew, ofMany] = [await costOf(...few), await costOf(...many)]
    if (ofFew.statements === ofMany.statements && ofFew.points === ofMany.points) return
    seen.push(ofFew, ofMany)
  }
  expect.fail(`${many[0]}\n${JSON.stringify(seen, undefined, 2)}`)
}

const LISTS: readonly [name: string, type: string, document: (selection: string) => string][] = [
  ['users', 'User', (inner) => `query ($n: Int!) { users(first: $n) { nodes { ${inner} } } }`],
  ['apiKeys', 'ApiKey', (inner) => `query ($n: Int!) { apiKeys(first: $n) { nodes { ${inner} } } }`],
  ['calls', 'Call', (inner) => `query ($n: Int!) { calls(first: $n) { nodes { ${inner} } } }`],
  ['uploads', 'Upload', (inner) => `query ($n: Int!) { uploads(first: $n) { edges { node { ${inner} } } } }`],
  [
    'groups of a report',
    'UsageGroup',
    (inner) =>
      `query ($n: Int!) { usage(groupBy: [KEY, USER, AGENT, OUTCOME]) { groups(first: $n) { ${inner} } } }`,
  ],
]

describe.each(LISTS)('below %s', (name, type, documentOf) => {
  test.each(sampled(selectionsBelow(type), name))(
    '%s costs the same for 2 parents and for 50',
    async (_path, selection) => {
      const document = documentOf(selection)
      await expectSameCostOf(document, (n) => ({ n }))
    },
  )
})

const TYPES = Object.keys(ids) as NodeType[]

describe.each(TYPES)('below nodes of the type %s', (type) => {
  test.each(sampled(selectionsBelow(type)))(
    '%s costs the same for 2 ids and for 50',
    async (_path, selection) => {
      const document = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${type} { ${selection} } } }`
      await expectSameCostOf(document, (n) => ({ ids: ids[type].slice(0, n) }))
    },
  )

  test.each(sampled(selectionsBelow(type), 'aliases'))(
    '%s of aliases of node costs what nodes costs',
    async (_path, selection) => {
      const fragment = `fragment F on ${type} { ${selection} }`
      for (const count of [20, ...FEWER.slice(1)]) {
        const some = ids[type].slice(0, count)
        const aliases = some.map((id, n) => `a${n}: node(id: "${id}") { ...F }`).join(' ')
        const document = `{ ${aliases} } ${fragment}`
        const { errors } = await face.query('admin', document)
        if (errors?.[0]?.extensions.code === 'operation_too_large') continue
        return expectSameCost(
          [`query ($ids: [ID!]!) { nodes(ids: $ids) { ...F } } ${fragment}`, { ids: some }],
          [document, {}],
        )
      }
      expect.fail(`too large for any number of aliases: ${selection}`)
    },
  )
})

test('ids of every kind take as many statements for 50 of each as for one, in one list or in aliases', async () => {
  const fields = `... on User { username } ... on ApiKey { name } ... on Call { outcome } ... on Upload { filename }`
  const document = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ${fields} } }`
  const mixed = (each: number) => TYPES.flatMap((type) => ids[type].slice(0, each))
  const aliases = mixed(5).map((id, n) => `a${n}: node(id: "${id}") { id ${fields} }`)
  await expectSameCost([document, { ids: mixed(1) }], [document, { ids: mixed(25) }])
  await expectSameCost([document, { ids: mixed(1) }], [`{ ${aliases.join(' ')} }`, {}])
})

test('agents are found by their ids without a statement', async () => {
  const agents = `query { nodes(ids: ["${FAILING_AGENT}", "none"]) { id ... on Agent { name apps { appId } } } }`
  const { data } = await read(agents)
  expect(data.nodes).toEqual([{ id: FAILING_AGENT, name: 'Failing', apps: [] }, null])
  await expectSameCost(['{ __typename agents { id } }', {}], [agents, {}])
})
