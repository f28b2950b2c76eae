import { type DocumentNode, type GraphQLSchema, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { DocumentAdmission } from '../admission/admit-document.ts'
import type { GraphqlContext } from '../context.ts'
import { requireVariables } from '../mistakes/variable-mistakes.ts'
import { requireSmallOperation } from './operation-limits.ts'

/**
 * Refuses operations whose variables are wrong and those that ask for too much. Must come before the plugin that looks up the
 * credential, which reads the database.
 */
export function useOperationLimits(admission: Pick<DocumentAdmission, 'refuse'>): Plugin<GraphqlContext> {
  const hook = async ({ args }: OperationPayload): Promise<void> => {
    const { schema, document } = args
    const operation = getOperationAST(document, args.operationName ?? undefined)
    if (operation == null) return
    const called = { schema, document, operation, variables: args.variableValues ?? {} }
    requireVariables(called)
    try {
      requireSmallOperation(called)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      await admission.refuse(args.contextValue as GraphqlContext, error)
    }
  }
  return {
    onExecute: hook,
    async onSubscribe(payload) {
      const { canStream } = payload.args.contextValue as GraphqlContext
      await hook(payload)
      // Otherwise a chat would begin, and its reply could not be sent.
      if (!canStream) fail('not_acceptable', EVENT_STREAM_EXPECTED)
    },
  }
}

const EVENT_STREAM_EXPECTED = 'accept: expected text/event-stream for a subscription.'

interface OperationPayload {
  readonly args: {
    readonly document: DocumentNode
    readonly schema: GraphQLSchema
    readonly operationName?: string | null | undefined
    readonly variableValues?: Record<string, unknown> | null | undefined
    readonly contextValue?: unknown
  }
}
