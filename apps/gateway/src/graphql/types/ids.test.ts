import { isInterfaceType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../schema.ts'

/** What operators read in lists: each has an id that no other object of its type has, and none is requested by it. */
const ONLY_LISTED = ['AuditEvent', 'GatewayProcess', 'Refusal']

/** What a mutation returns of an object that is gone, by its id. */
const OF_WHAT_IS_GONE = ['DeleteConversationPayload']

/** Caches identify an object by its type and this field, so that two objects with one id would be one record. */
test('every type with an id is a node or one of those that are only listed, whose ids are unique in their type', () => {
  const withId = Object.values(schema.getTypeMap()).filter(
    (type) => (isObjectType(type) || isInterfaceType(type)) && 'id' in type.getFields(),
  )
  const nodes = withId.filter(
    (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
  )
  expect(nodes.map(({ name }) => name).toSorted()).toEqual([
    'Agent',
    'ApiKey',
    'Call',
    'Conversation',
    'Upload',
    'User',
  ])
  const others = withId.filter((type) => !nodes.includes(type)).map(({ name }) => name)
  expect(others.toSorted()).toEqual([...ONLY_LISTED, ...OF_WHAT_IS_GONE, 'Node'].toSorted())
})
