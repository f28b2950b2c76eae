import {
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Face, openFace } from '#test/graphql/face.test-support.ts'
import { sampled } from '../../../../../test/support/sampled.ts'
import { schema } from '../schema.ts'
import { OPERATION_LIMITS } from '../serving/operation-limits.ts'

/*
 * A document with many aliases of a field takes no more statements than one with two of them, or it is refused. Each alias has
 * arguments and a selection of its own, so that none can be answered from another.
 */

const MANY = 50
const FEW = 2
/** The statements that a list or a report takes at most: rows, related rows, a count. */
const STATEMENTS_OF_LIST = 4

/** Of a document that is refused: those that look up its credential. */
const STATEMENTS_OF_REFUSAL = 2

let face: Face
const ids: Record<string, string[]> = {}

beforeAll(async () => {
  face = await openFace({ readPoints: 1_000_000 })
  const { ownerId } = face.callers.admin
  const keyIds: string[] = []
  for (let n = 0; n < MANY; n += 1) keyIds.push(await face.newKey(ownerId, `key ${n}`))
  const { data } = await face.query('admin', '{ users { nodes { id } } calls { nodes { id } } }')
  ids.apiKey = keyIds
  ids.user = data.users.nodes.map(({ id }: { id: string }) => id)
  ids.call = data.calls.nodes.map(({ id }: { id: string }) => id)
  ids.node = keyIds
}, 240_000)
afterAll(() => face?.close())

type Field = GraphQLField<unknown, unknown>

/** Arguments that differ from alias to alias, where a field has any that may. */
function argumentsOf({ name, args }: Field, index: number): string {
  const idsOf = ids[name] ?? []
  const values: Readonly<Record<string, string>> = {
    id: JSON.stringify(idsOf[index % Math.max(1, idsOf.length)] ?? `none ${index}`),
    ids: JSON.stringify(ids.node?.slice(index, index + 1)),
    requestId: JSON.stringify(`request ${index}`),
    n: String(index + 1),
    search: JSON.stringify(`text ${index}`),
    first: String(index + 1),
  }
  const given = args.flatMap(({ name: own }) => (values[own] === undefined ? [] : [`${own}: ${values[own]}`]))
  return given.length === 0 ? '' : `(${given.join(', ')})`
}

/** Of the fields of a type, another part for each alias, and of the objects below it as well. */
function selectionOf(named: GraphQLNamedType, index: number, depth = 0): string {
  if (!isObjectType(named)) return 'id'
  const { nodes, ...fields } = named.getFields()
  if (nodes !== undefined) return `nodes { ${selectionOf(getNamedType(nodes.type), index, depth)} }`
  const known = Object.values(fields).filter(({ args }) => args.length === 0)
  const leaves = known.filter(({ type }) => isLeafType(getNamedType(type)) || isEnumType(getNamedType(type)))
  const chosen = [1, 3, 5].map((step) => leaves[(index * step) % leaves.length]?.name ?? '__typename')
  const related = known.find(({ name, type }) => name === 'owner' && isObjectType(getNamedType(type)))
  const below =
    related === undefined || depth > 0
      ? []
      : [`${related.name} { ${selectionOf(getNamedType(related.type), index * 7, depth + 1)} }`]
  return [...new Set(chosen), ...below].join(' ')
}

function documentOf(field: Field, count: number): string {
  const type = getNamedType(field.type)
  const aliases = Array.from({ length: count }, (_, index) => {
    const selection = isLeafType(type) ? '' : ` { ${selectionOf(type, index)} }`
    return `a${index}: ${field.name}${argumentsOf(field, index)}${selection}`
  })
  return `{ ${aliases.join(' ')} }`
}

async function costOf(field: Field, count: number) {
  const caller = field.name === 'currentApiKey' ? 'chat key' : 'admin'
  const document = documentOf(field, count)
  let codes = new Set<unknown>()
  const statements = await face.statementsOf(async () => {
    const { errors = [] } = await face.query(caller, document)
    codes = new Set(errors.map(({ extensions }) => extensions.code))
  })
  return { statements, codes, document }
}

describe(`${MANY} aliases buy no work: Query`, () => {
  test.each(sampled(Object.keys(schema.getQueryType()?.getFields() ?? {})))('%s', async (name) => {
    const field = schema.getQueryType()?.getFields()[name]
    if (field === undefined) throw new Error(`there is no ${name}`)
    const [few, many] = [await costOf(field, FEW), await costOf(field, MANY)]
    expect(few.codes).not.toContain('operation_too_large')
    if (many.codes.has('operation_too_large')) {
      expect(many.statements).toBeLessThanOrEqual(STATEMENTS_OF_REFUSAL)
      const most = await costOf(field, OPERATION_LIMITS.lists)
      // Each of them may take a point of a limit, and the agents have few.
      expect([...most.codes].filter((code) => code !== 'rate_limited')).toEqual([])
      expect(most.statements).toBeLessThanOrEqual(
        OPERATION_LIMITS.lists * STATEMENTS_OF_LIST + STATEMENTS_OF_REFUSAL,
      )
      await expectRefused(field, OPERATION_LIMITS.lists + 1)
    } else {
      expect([...many.codes].filter((code) => !/_not_found$/.test(String(code)))).toEqual([])
      expect(many.statements, many.document).toBe(few.statements)
    }
  })
})

async function expectRefused(field: Field, count: number): Promise<void> {
  expect((await costOf(field, count)).codes).toEqual(new Set(['operation_too_large']))
}
