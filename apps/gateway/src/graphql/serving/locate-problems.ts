import { PothosValidationError } from '@pothos/core'
import { type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql'
import { Problem, refuseField } from '#core/base/errors/errors.ts'
import { CURSOR_EXPECTED, PAGE_ITEMS_MAX } from '#core/requests/input/pagination.ts'
import type { GraphqlContext } from '../context.ts'
import { graphqlErrorOf } from '../errors.ts'
import { placeProblem } from '../mistakes/input-places.ts'

type Arguments = Record<string, unknown>
type Resolver = GraphQLFieldResolver<unknown, GraphqlContext, Arguments>

/**
 * Makes the problems that a resolver throws name the field by its place in the arguments: `expiresAt` of core becomes
 * `input.expiresAt`, `agent` becomes `input.agentId`, and the `limit` of a list becomes `first` or `last`.
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
      const problem = error instanceof PothosValidationError ? problemOfCursor(error) : error
      if (!(problem instanceof Problem)) throw problem
      throw graphqlErrorOf(placeProblem(problem, known, args))
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

/** {@link checkPage} has found everything else that Pothos refuses in the arguments of a connection. Its words repeat the cursor. */
function problemOfCursor(cause: PothosValidationError): Problem {
  return new Problem('invalid_request', { ...CURSOR_EXPECTED, cause })
}

/**
 * Checks the size and the direction of a page in words of our own. Pothos would silently cut a size that is too large, and take
 * one of two sizes for the direction alone.
 */
function checkPage({ first, last, before, after }: Arguments): void {
  const excluding = [
    ['last', last, 'first', first],
    ['before', before, 'after', after],
    ['before', before, 'first', first],
    ['after', after, 'last', last],
  ] as const
  for (const [name, value, other, otherValue] of excluding) {
    if (value != null && otherValue != null) {
      refuseField([name], `expected it to be left out where ${other} is given.`)
    }
  }
  for (const [name, size] of [
    ['first', first],
    ['last', last],
  ] as const) {
    if (size == null || (Number(size) >= 1 && Number(size) <= PAGE_ITEMS_MAX)) continue
    refuseField([name], `expected an integer of 1 to ${PAGE_ITEMS_MAX}.`)
  }
}
