import type { GraphQLError } from 'graphql'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { ERRORS, type ErrorReason, Problem } from '#core/base/errors/errors.ts'
import type { Services } from '#core/services/services.ts'
import { recordRefusal } from '#http/response/refusals.ts'
import { type Executed, rootFieldsOf } from '../admission/root-fields.ts'
import { type OperationPlace, readCredential } from '../context.ts'
import { problemBehind } from '../errors.ts'

/**
 * Records that errors of a result refuse their request. An operation may have many errors; the first one counts. What is refused
 * before the operation runs, such as a document that does not fit the schema, is refused before the credential is looked up:
 * then that is done for the record alone, and the answer does not wait for it.
 */
export function recordRefusals(
  errors: readonly GraphQLError[] | undefined,
  { http, credential }: Pick<OperationPlace, 'http'> & Partial<Pick<OperationPlace, 'credential'>>,
  services?: Pick<Services, 'authentication'>,
  executed?: Executed,
): void {
  const [error] = errors ?? []
  if (error === undefined || http.refusedBy !== undefined) return
  const problem = problemBehind(error) ?? problemOfCode(error)
  if (problem === undefined) return
  const field = typeof error.extensions.field === 'string' ? error.extensions.field : undefined
  const operation = executed && rootFieldOf(error, executed)
  const record = () => recordRefusal(http, problem, { field, operation, caller: credential?.caller })
  const isKnown = problem.refused.ownerId !== undefined || credential?.looking !== undefined
  const isAnonymous = http.headers.authorization === undefined
  if (isKnown || isAnonymous || credential === undefined || services === undefined) record()
  else markRejectionHandled(readCredential(services, { http, credential }).then(record, record))
}

/** The name of the field in which an error happened: its path has the alias, with which a caller could name another field. */
function rootFieldOf({ path }: GraphQLError, executed: Executed): string | undefined {
  if (path === undefined) return undefined
  const field = rootFieldsOf(executed).find(({ alias, name }) => (alias ?? name).value === path[0])
  return field?.name.value
}

/** Yoga copies some errors, which have their code still. */
function problemOfCode({ extensions: { code }, message }: GraphQLError): Problem | undefined {
  if (typeof code !== 'string' || !(code in ERRORS)) return undefined
  return new Problem(code as ErrorReason, { detail: message })
}
