import type { FastifyBaseLogger } from 'fastify'
import type { ExecutionResult, GraphQLError } from 'graphql'
import { handleStreamOrSingleExecutionResult, isAsyncIterable, type Plugin } from 'graphql-yoga'
import { logFault } from '#http/reply/log-fault.ts'
import type { GraphqlContext, OperationPlace } from '../context.ts'
import { problemBehind, toGraphqlError } from '../errors.ts'

/** Gives every error of a result its code and status, also in mid-stream, and logs the faults of the gateway. */
export function useProblems(log: FastifyBaseLogger): Plugin<GraphqlContext, OperationPlace> {
  const logged = new WeakSet<GraphQLError>()
  const logOnce = (error: GraphQLError, reqId: string): void => {
    const problem = problemBehind(error)
    if (problem === undefined || logged.has(error)) return
    logged.add(error)
    logFault(log, problem, { reqId, path: error.path?.join('.') })
  }
  const convert = (result: ExecutionResult, reqId: string): ExecutionResult => {
    if (result.errors === undefined) return result
    const errors = result.errors.map((thrown) => {
      const error = toGraphqlError(thrown)
      logOnce(error, reqId)
      return error
    })
    return { ...result, errors }
  }
  const handle = (reqId: string) => (payload: ResultPayload) =>
    payload.setResult(convert(payload.result, reqId))
  return {
    // What breaks beside the execution, which Yoga has converted by `toGraphqlError` without knowing the request.
    onResultProcess({ result, serverContext }) {
      if (Array.isArray(result) || isAsyncIterable(result)) return
      for (const error of result.errors ?? []) logOnce(error, serverContext.http.id)
    },
    onExecute: ({ args }) => ({
      onExecuteDone: (payload) =>
        handleStreamOrSingleExecutionResult(payload, handle(idOf(args.contextValue))),
    }),
    onSubscribe: ({ args }) => ({
      onSubscribeResult: (payload) =>
        handleStreamOrSingleExecutionResult(payload, handle(idOf(args.contextValue))),
    }),
  }
}

interface ResultPayload {
  readonly result: ExecutionResult
  setResult(result: ExecutionResult): void
}

function idOf(context: unknown): string {
  return (context as GraphqlContext).http.id
}
