import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  isObjectType,
} from 'graphql'
import { expect, test } from 'vitest'

/** What both REST and GraphQL return, by its names there. */
const RESOURCES = [
  ['Agent', 'Agent'],
  ['ApiKey', 'ApiKey'],
  ['CurrentApiKey', 'CurrentApiKey'],
  ['FullUser', 'User'],
  ['LoginResponse', 'LoginPayload'],
  ['Upload', 'Upload'],
  ['Call', 'Call'],
  ['UsageReport', 'UsageReport'],
  ['Refusal', 'Refusal'],
  ['RefusalCount', 'RefusalCount'],
  ['AuditEvent', 'AuditEvent'],
  ['GatewayProcess', 'GatewayProcess'],
] as const

/** Fields that are named otherwise in GraphQL. */
const RENAMED: Readonly<Record<string, string>> = {
  'ApiKey.createdBy': 'createdById',
  'Call.agent': 'agentId',
  'Call.answeredBy': 'answeredById',
  'Call.answers': 'answersId',
  'Refusal.agent': 'agentId',
  'RefusalCount.agent': 'agentId',
}

/** Fields of which each interface says something that only it can say: its names, its headers, its enums, what it refers to. */
const OWN_WORDS = new Set([
  'Agent.id',
  'Agent.requires',
  'Agent.status',
  'ApiKey.id',
  // In REST the id by which the client names it, as `conversationId` is.
  'Call.conversation',
  'Call.id',
  'Call.outcome',
  'LoginPayload.accessToken',
  'LoginPayload.user',
  'Upload.id',
  'UsagePoint.failedCalls',
  'UsageReport.groups',
  'UsageReport.previous',
  'UsageTotals.failedCalls',
  'User.id',
])

interface RestSchema {
  readonly $ref?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, RestSchema>>
  readonly items?: RestSchema
  readonly anyOf?: readonly RestSchema[]
}

const { components } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  components: { schemas: Readonly<Record<string, RestSchema>> }
}
const graphql = buildSchema(readFileSync('schema.graphql', 'utf8'))

test('a field of both interfaces has the same description in both', () => {
  const [compared, differing] = [new Set<string>(), new Map<string, readonly unknown[]>()]
  const compare = ({ properties = {} }: RestSchema, type: GraphQLNamedType | undefined) => {
    if (!isObjectType(type)) return
    const fields = type.getFields()
    for (const [property, schema] of Object.entries(properties)) {
      const camelCase = property.replaceAll(/_(.)/g, (_match, letter: string) => letter.toUpperCase())
      const place = `${type.name}.${camelCase}`
      const field = fields[RENAMED[place] ?? camelCase]
      if (field === undefined) continue
      compared.add(place)
      const texts = [schema.description?.replace(' (ISO 8601, UTC).', '.'), field.description]
      // OpenAPI has no place for the meanings of the words of an enum, so that they follow the description.
      const isSame = texts[0] === texts[1] || texts[0]?.startsWith(`${texts[1]} \``)
      if (!isSame && !OWN_WORDS.has(place)) differing.set(place, texts)
      compare(objectIn(schema), getNamedType(field.type as GraphQLOutputType))
    }
  }
  for (const [name, type] of RESOURCES) compare(components.schemas[name] ?? {}, graphql.getType(type))
  expect(Object.fromEntries(differing)).toEqual({})
  expect(compared.size).toBeGreaterThan(80)
  expect([...OWN_WORDS].filter((place) => !compared.has(place))).toEqual([])
})

/** The schema of the object itself, which may be nullable or in a list. */
function objectIn(schema: RestSchema): RestSchema {
  return schema.items ?? schema.anyOf?.find(({ properties }) => properties !== undefined) ?? schema
}
