import { PothosValidationError } from '@pothos/core'
import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql'
import { Problem, refuseField } from '#core/errors.ts'
import { type FieldPath, joinPath } from '#core/field-path.ts'
import { CURSOR_EXPECTED, PAGE_ITEMS_MAX } from '#core/pagination.ts'
import type { GraphqlContext } from './context.ts'
import { graphqlErrorOf } from './errors.ts'

type Resolver = GraphQLFieldResolver<unknown, GraphqlContext, Record<string, unknown>>

/**
 * Makes the problems that a resolver throws name the field by its place in the arguments: `expiresAt` of core becomes
 * `input.expiresAt`, and the `limit` of a list becomes `first` or `last`.
 */
export function locateProblems(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (field.args.length === 0) continue
      if (field.resolve !== undefined) field.resolve = locating(field, field.resolve)
      if (field.subscribe !== undefined) field.subscribe = locating(field, field.subscribe)
    }
  }
  return schema
}

function locating({ args: known }: GraphQLField<unknown, GraphqlContext>, resolve: Resolver): Resolver {
  return (root, args, context, info) => {
    const located = (error: unknown): never => {
      const problem = error instanceof PothosValidationError ? problemOfPage(error) : error
      if (!(problem instanceof Problem)) throw problem
      throw graphqlErrorOf(problem, (field) => joinPath(placeOf(field, known, args)))
    }
    try {
      checkPage(args)
      const result = resolve(root, args, context, info)
      return result instanceof Promise ? result.catch(located) : result
    } catch (error) {
      return located(error)
    }
  }
}

/** What Pothos finds wrong with the arguments of a connection before it calls the service. */
function problemOfPage({ message }: PothosValidationError): Problem {
  if (/cursor/i.test(message)) return new Problem('invalid_request', CURSOR_EXPECTED)
  return new Problem('invalid_request', { detail: `${message}.`.replace(/\.\.$/, '.') })
}

function placeOf(
  field: FieldPath,
  known: readonly GraphQLArgument[],
  args: Record<string, unknown>,
): FieldPath {
  const [name, ...rest] = field
  if (name === 'limit') return args.last == null ? ['first'] : ['last']
  if (name === 'cursor') return args.before == null ? ['after'] : ['before']
  if (known.some((argument) => argument.name === name)) return field
  const holder = known.find(({ type }) => {
    const named = getNamedType(type)
    return isInputObjectType(named) && Object.hasOwn(named.getFields(), String(name))
  })
  return holder === undefined ? field : [holder.name, String(name), ...rest]
}

/** Pothos would silently cut a page size that is too large, and take one of two sizes for the direction alone. */
function checkPage({ first, last }: Record<string, unknown>): void {
  if (first != null && last != null) refuseField(['last'], 'expected it to be left out where first is given.')
  for (const [name, size] of Object.entries({ first, last })) {
    if (size == null || (Number(size) >= 1 && Number(size) <= PAGE_ITEMS_MAX)) continue
    refuseField([name], `expected an integer of 1 to ${PAGE_ITEMS_MAX}.`)
  }
}
