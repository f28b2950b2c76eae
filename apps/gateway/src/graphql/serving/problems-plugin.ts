import type { ExecutionResult, GraphQLError } from 'graphql'
import { handleStreamOrSingleExecutionResult, isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Services } from '#core/services/services.ts'
import type { FaultLog } from '#http/response/fault-log.ts'
import type { Executed } from '../admission/root-fields.ts'
import type { GraphqlContext, OperationPlace } from '../context.ts'
import { nameRequest, problemBehind, toGraphqlError } from '../errors.ts'
import { recordRefusals } from './record-refusals.ts'

/**
 * Gives every error of a result its code, its status and the id of its request, also in mid-stream. Logs the faults of the gateway,
 * and records refusals.
 */
export function useProblems(
  faults: FaultLog,
  services: Pick<Services, 'authentication'>,
): Plugin<GraphqlContext, OperationPlace> {
  const logOnce = (error: GraphQLError, { http, loggedFaults }: Logged): void => {
    const problem = problemBehind(error)
    if (problem === undefined || loggedFaults.has(error)) return
    loggedFaults.add(error)
    faults.log(problem, { reqId: http.id, trace_id: http.trace?.traceId, path: error.path?.join('.') })
  }
  const convert = (result: ExecutionResult, place: Logged, executed: Executed): ExecutionResult => {
    if (result.errors === undefined) return result
    const errors = result.errors.map((thrown) => {
      const error = toGraphqlError(thrown)
      logOnce(error, place)
      return error
    })
    recordRefusals(errors, place, services, executed)
    nameRequest(errors, place.http.id)
    return { ...result, errors }
  }
  const handle = (args: Executed & { readonly contextValue?: unknown }) => (payload: ResultPayload) =>
    payload.setResult(convert(payload.result, args.contextValue as GraphqlContext, args))
  return {
    // What breaks beside the execution, which Yoga has converted by `toGraphqlError` without knowing the request.
    onResultProcess({ result, serverContext }) {
      if (Array.isArray(result) || isAsyncIterable(result)) return
      for (const error of result.errors ?? []) logOnce(error, serverContext)
      recordRefusals(result.errors, serverContext, services)
      nameRequest(result.errors, serverContext.http.id)
    },
    onExecute: ({ args }) => ({
      onExecuteDone: (payload) => handleStreamOrSingleExecutionResult(payload, handle(args)),
    }),
    onSubscribe: ({ args }) => ({
      onSubscribeResult: (payload) => handleStreamOrSingleExecutionResult(payload, handle(args)),
    }),
  }
}

type Logged = Pick<OperationPlace, 'http' | 'credential' | 'loggedFaults'>

interface ResultPayload {
  readonly result: ExecutionResult
  setResult(result: ExecutionResult): void
}
