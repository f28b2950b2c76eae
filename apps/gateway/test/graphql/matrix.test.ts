import {
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isUnionType,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { schema } from '#graphql/schema.ts'
import { sampled } from '../../../../test/support/sampled.ts'
import {
  ANN,
  type Asking,
  BOUND_CALLERS,
  CALLERS,
  type CallerName,
  headersOf,
} from '../authorization/callers.test-support.ts'
import { boundCell } from '../authorization/rows.test-support.ts'
import { type Any, type Face, openFace } from './face.test-support.ts'
import { MATRIX, type MatrixRow } from './matrix.test-support.ts'

/*
 * Who gets what from every field. The schema decides which fields must have a row, and that each is called with all of its
 * arguments, so a field or an argument that is added without a decision fails here.
 */

const OTHERS_OF_ANN = [
  'chat key for Bob',
  'upload key for Bob',
  'premium for Bob',
  'admin key of an admin for Bob',
] as const
let face: Face
let url: string

beforeAll(async () => {
  face = await openFace({ chatsPerMinute: 10_000, bindsEndUsers: true })
  url = await face.app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(() => face?.close())

test('every field that a caller can ask for is in the matrix, and no other', () => {
  expect(Object.keys(MATRIX).sort()).toEqual(fieldsToDecide().sort())
})

describe.each(sampled(Object.keys(MATRIX)))('%s', (name) => {
  const row = MATRIX[name] as MatrixRow

  test('gives each kind of caller what the matrix says, and nothing else', async () => {
    const seen: Record<string, string> = {}
    const expected: Record<string, string> = {}
    for (const caller of CALLERS) {
      seen[caller] = await outcomeOf(name, row, caller)
      const isOfAnn = face.callers[caller].endUser !== undefined
      expected[caller] = isOfAnn ? boundCell(row.cells[caller], row.forOthers, true) : row.cells[caller]
    }
    for (const caller of OTHERS_OF_ANN) {
      seen[caller] = await outcomeOf(name, row, caller)
      expected[caller] = boundCell(row.cells[BOUND_CALLERS[caller]], row.forOthers, false)
    }
    expect(seen).toEqual(expected)
  })
})

async function outcomeOf(name: string, row: MatrixRow, as: CallerName): Promise<string> {
  const caller = face.callers[as]
  const call = { all: face, caller }
  const field = await textOf(row.field, call)
  const [type = '', fieldName = ''] = name.split('.')
  const around =
    row.within ?? { Query: '{ $FIELD }', Mutation: 'mutation { $FIELD }' }[type] ?? 'subscription { $FIELD }'
  // All of a reply would be too large a document for a stranger, who is refused for that before.
  const isOfChat = fieldName === 'chat' || fieldName === 'chatResumed'
  const selection = as === 'anonymous' && isOfChat ? ' { __typename }' : selectionOf(typeOf(name))
  const document = (await textOf(around, call)).replace('$FIELD', field + selection)
  requireArguments(document, name)
  const credential = as === 'anonymous' ? '' : await face.freshCredential(as)
  const { data, errors } = await send(document, { credential, endUser: caller.endUser })
  if (as.endsWith('for Bob')) expect(JSON.stringify({ data, errors }), as).not.toContain(ANN)
  if (errors?.[0] !== undefined) return errors[0].extensions.code
  const value = findValue(data, fieldName)
  if (row.see !== undefined) return row.see(value, call)
  const isEmpty = value == null || value.nodes?.length === 0
  return isEmpty ? 'nothing' : 'allowed'
}

/** The result, or the first item of a subscription, after which the connection is closed. */
async function send(query: string, as: Asking): Promise<Any> {
  const isSubscription = query.startsWith('subscription')
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: isSubscription ? 'text/event-stream' : 'application/json',
      ...headersOf(as),
    },
    body: JSON.stringify({ query }),
  })
  if (!isSubscription) return response.json()
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (let text = ''; ; ) {
      const { value, done } = (await reader?.read()) ?? { done: true }
      if (done) throw new Error(`a subscription ended without an item: ${text}`)
      text += value
      const data = /^data: (.+)$/m.exec(text)?.[1]
      if (data !== undefined) return JSON.parse(data)
    }
  } finally {
    await reader?.cancel()
  }
}

/** Fields of the roots, and those of other types that have arguments or lead to an object with an id or to a list of them. */
/** What a platform has said, which fewer callers see than the object around it. */
const QUESTIONS = new Set(['Call.pause', 'Conversation.pause'])

function fieldsToDecide(): string[] {
  return objectTypes().flatMap((type) => {
    const isRoot = /^(?:Query|Mutation|Subscription)$/.test(type.name)
    // What a page holds has been decided where the page is.
    if (/(?:Connection|Edge|PageInfo)$/.test(type.name)) return []
    return Object.values(type.getFields())
      .filter(
        ({ name, args, type: of }) =>
          isRoot ||
          args.length > 0 ||
          leadsToObjects(getNamedType(of)) ||
          QUESTIONS.has(`${type.name}.${name}`),
      )
      .map((field) => `${type.name}.${field.name}`)
  })
}

function objectTypes(): GraphQLObjectType[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter((type) => !type.name.startsWith('__'))
}

function leadsToObjects(type: GraphQLNamedOutputType): boolean {
  return (
    /Connection$/.test(type.name) ||
    (isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'))
  )
}

function typeOf(name: string): GraphQLNamedOutputType {
  const [type = '', field = ''] = name.split('.')
  const owner = schema.getType(type)
  const found = isObjectType(owner) ? owner.getFields()[field] : undefined
  if (found === undefined) throw new Error(`${name} is not in the schema`)
  return getNamedType(found.type)
}

/** Selects everything that needs no arguments, down to the objects that have a row of their own. */
function selectionOf(type: GraphQLNamedOutputType, within: readonly string[] = []): string {
  if (isLeafType(type)) return ''
  if (isUnionType(type)) {
    const members = type.getTypes().map((member) => `... on ${member.name} ${selectionOf(member, within)}`)
    return ` { __typename ${members.join(' ')} }`
  }
  if (isInterfaceType(type)) return ' { __typename id }'
  const fields = Object.values(type.getFields())
    .filter(({ name, args }) => args.length === 0 && !QUESTIONS.has(`${type.name}.${name}`))
    .map((field) => ({ name: field.name, type: getNamedType(field.type) }))
    .filter((field) => /Connection$|Edge$/.test(type.name) || !leadsToObjects(field.type))
    // A report holds the one of the period before.
    .filter((field) => !within.includes(field.type.name))
  // A payload may hold nothing but an object with a row of its own.
  if (fields.length === 0) return ' { __typename }'
  return ` { ${fields.map((field) => field.name + selectionOf(field.type, [...within, type.name, field.type.name])).join(' ')} }`
}

/** Requires that the document is valid and calls the field with all of its arguments. */
function requireArguments(document: string, name: string): void {
  const ast = parse(document)
  expect(validate(schema, ast), document).toEqual([])
  const info = new TypeInfo(schema)
  const given = new Set<string>()
  const known = new Set<string>()
  visit(
    ast,
    visitWithTypeInfo(info, {
      Field(node) {
        const parent = info.getParentType()?.name
        if (`${parent}.${node.name.value}` !== name) return
        for (const argument of info.getFieldDef()?.args ?? []) known.add(argument.name)
        for (const argument of node.arguments ?? []) given.add(argument.name.value)
      },
    }),
  )
  expect(given, `${name} must be called with all of its arguments`).toEqual(known)
}

function findValue(data: Any, name: string): Any {
  for (const [key, value] of Object.entries(data ?? {})) {
    if (key === name) return value
    const found = typeof value === 'object' ? findValue(value, name) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

async function textOf(text: MatrixRow['field'], call: Parameters<Exclude<MatrixRow['field'], string>>[0]) {
  return typeof text === 'string' ? text : text(call)
}
