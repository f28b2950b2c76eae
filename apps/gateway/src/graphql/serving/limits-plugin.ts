import { type DocumentNode, type ExecutionResult, type GraphQLSchema, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { fail, Problem } from '#core/errors/errors.ts'
import type { DocumentAdmission } from '../admission/admit-document.ts'
import type { GraphqlContext } from '../context.ts'
import { toGraphqlError } from '../errors.ts'
import type { DocumentVerdicts } from '../mistakes/document-verdicts.ts'
import { wrongInputs } from '../mistakes/wrong-inputs.ts'
import { requireSmallOperation } from './operation-limits.ts'

/**
 * Refuses operations whose inputs are wrong and those that ask for too much. Must come before the plugin that looks up the
 * credential, which reads the database.
 */
export function useOperationLimits({ admission, verdicts }: OperationLimitsDeps): Plugin<GraphqlContext> {
  const hook = async ({ args, setResultAndStopExecution }: OperationPayload): Promise<void> => {
    const { schema, document } = args
    const operation = getOperationAST(document, args.operationName ?? undefined)
    if (operation == null) return
    const called = { schema, document, operation, variables: args.variableValues ?? {} }
    const wrongLiterals = verdicts.wrongLiteralsOf(document)
    const context = args.contextValue as GraphqlContext
    const error = await wrongInputs(called, wrongLiterals, context)
    if (error !== undefined) {
      await admission.countWrongInputs(context)
      return setResultAndStopExecution({ errors: [toGraphqlError(error)] })
    }
    try {
      requireSmallOperation(called)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      await admission.refuse(context, error)
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

interface OperationLimitsDeps {
  readonly admission: Pick<DocumentAdmission, 'refuse' | 'countWrongInputs'>
  readonly verdicts: Pick<DocumentVerdicts, 'wrongLiteralsOf'>
}

interface OperationPayload {
  readonly args: {
    readonly document: DocumentNode
    readonly schema: GraphQLSchema
    readonly operationName?: string | null | undefined
    readonly variableValues?: Record<string, unknown> | null | undefined
    readonly contextValue?: unknown
  }
  setResultAndStopExecution(result: ExecutionResult): void
}
