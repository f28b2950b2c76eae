import { isInterfaceType, isObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { schema } from '../schema.ts'

/** Caches identify an object by its type and this field, so that two objects with one id would be one record. */
test('every type with an id is a node, whose id no other object of the type has', () => {
  const withId = Object.values(schema.getTypeMap()).filter(
    (type) => (isObjectType(type) || isInterfaceType(type)) && 'id' in type.getFields(),
  )
  const nodes = withId.filter(
    (type) => isObjectType(type) && type.getInterfaces().some(({ name }) => name === 'Node'),
  )
  expect(nodes.map(({ name }) => name).toSorted()).toEqual(['Agent', 'ApiKey', 'Call', 'Upload', 'User'])
  expect(withId.filter((type) => !nodes.includes(type)).map(({ name }) => name)).toEqual(['Node'])
})
