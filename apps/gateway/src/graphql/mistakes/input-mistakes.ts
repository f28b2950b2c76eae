import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type ObjectValueNode,
  type ValueNode,
  validateInputLiteral,
  validateInputValue,
} from 'graphql'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { callerName } from '#core/requests/input/caller-name.ts'
import { expectedInput } from './expected-input.ts'

/** Something that is wrong with an input: where, from the argument on, and what. It never contains a value of the caller. */
export interface InputMistake {
  readonly field: FieldPath
  readonly text: string
}

/** Receives one mistake after the other; the walks end once it returns false. */
export type TakeMistake = (mistake: InputMistake) => boolean

/** Looks for mistakes in the value of a variable. Returns false if it ended early. */
export function checkValue(
  value: unknown,
  type: GraphQLInputType,
  field: FieldPath,
  take: TakeMistake,
): boolean {
  if (isNonNullType(type)) {
    return value == null ? take(missing(type, field)) : checkValue(value, type.ofType, field, take)
  }
  if (value == null) return true
  if (isListType(type)) {
    // A single value stands for a list of one.
    if (!Array.isArray(value)) return checkValue(value, type.ofType, field, take)
    return value.every((item, index) => checkValue(item, type.ofType, [...field, index], take))
  }
  if (isInputObjectType(type)) {
    if (typeof value !== 'object' || Array.isArray(value)) return take(wrong(type, field))
    return checkObject(value, type, field, take)
  }
  let isFine = true
  validateInputValue(value, type, () => {
    isFine = false
  })
  return isFine || take(wrong(type, field))
}

function checkObject(
  value: object,
  type: GraphQLInputObjectType,
  field: FieldPath,
  take: TakeMistake,
): boolean {
  const known = type.getFields()
  const given = new Map<string, unknown>(Object.entries(value))
  for (const inner of Object.values(known)) {
    const place = [...field, inner.name]
    const item = given.get(inner.name)
    const goesOn =
      item === undefined
        ? !isRequiredInputField(inner) || take(missing(inner.type, place))
        : checkValue(item, inner.type, place, take)
    if (!goesOn) return false
  }
  return [...given.keys()].every((name) => Object.hasOwn(known, name) || take(unknown(name, field)))
}

/**
 * Looks for mistakes in a literal of a document. What variables give is left out, since it is not known yet. Returns false if
 * it ended early.
 */
export function checkLiteral(
  node: ValueNode,
  type: GraphQLInputType,
  field: FieldPath,
  take: TakeMistake,
): boolean {
  if (node.kind === Kind.VARIABLE) return true
  if (isNonNullType(type)) {
    return node.kind === Kind.NULL ? take(missing(type, field)) : checkLiteral(node, type.ofType, field, take)
  }
  if (node.kind === Kind.NULL) return true
  if (isListType(type)) {
    if (node.kind !== Kind.LIST) return checkLiteral(node, type.ofType, field, take)
    return node.values.every((item, index) => checkLiteral(item, type.ofType, [...field, index], take))
  }
  if (isInputObjectType(type)) {
    if (node.kind !== Kind.OBJECT) return take(wrong(type, field))
    return checkObjectLiteral(node, type, field, take)
  }
  let isFine = true
  validateInputLiteral(node, type, () => {
    isFine = false
  })
  return isFine || take(wrong(type, field))
}

function checkObjectLiteral(
  node: ObjectValueNode,
  type: GraphQLInputObjectType,
  field: FieldPath,
  take: TakeMistake,
): boolean {
  const known = type.getFields()
  const given = new Map(node.fields.map(({ name, value }) => [name.value, value]))
  for (const inner of Object.values(known)) {
    const place = [...field, inner.name]
    const item = given.get(inner.name)
    const goesOn =
      item === undefined
        ? !isRequiredInputField(inner) || take(missing(inner.type, place))
        : checkLiteral(item, inner.type, place, take)
    if (!goesOn) return false
  }
  return [...given.keys()].every((name) => Object.hasOwn(known, name) || take(unknown(name, field)))
}

/** An input that must be given, and be more than null. */
export function missing(type: GraphQLInputType, field: FieldPath): InputMistake {
  return { field, text: `is required; expected ${expectedInput(type)}.` }
}

function wrong(type: GraphQLInputType, field: FieldPath): InputMistake {
  return { field, text: `expected ${expectedInput(type)}.` }
}

function unknown(name: string, within: FieldPath): InputMistake {
  return { field: [...within, callerName(name)], text: 'is not a known field.' }
}
