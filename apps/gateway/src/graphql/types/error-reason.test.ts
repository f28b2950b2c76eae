import { isEnumType, isObjectType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { ERRORS } from '#core/base/errors/errors.ts'
import { schema } from '../schema.ts'
import { isGraphqlReason, REASONS_OF_OTHER_FACES } from './error-reason.ts'

const type = schema.getType('ErrorReason')
const members = isEnumType(type) ? type.getValues() : []

describe('ErrorReason', () => {
  test('has every reason of the table but those of other faces, spelled as extensions.code is', () => {
    const others: readonly string[] = REASONS_OF_OTHER_FACES
    const expected = Object.keys(ERRORS).filter((reason) => !others.includes(reason))
    expect(members.map(({ name }) => name)).toEqual(expected)
    expect(members.map(({ value }) => value)).toEqual(expected)
  })

  test('is the type of the reason of a call', () => {
    const call = schema.getType('Call')
    expect(isObjectType(call) && String(call.getFields().reason?.type)).toBe('ErrorReason')
  })

  test('has no words that no error has', () => {
    expect(['nothing', '', 'toString', null].filter(isGraphqlReason)).toEqual([])
  })
})
