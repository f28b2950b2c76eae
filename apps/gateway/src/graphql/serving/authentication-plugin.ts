import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { type GraphqlContext, readCredential } from '../context.ts'

/**
 * Looks up the credential of a request before its operation runs, unless every field of the operation judges credentials
 * itself: `login` needs none, and `chat` leaves its key to the statement that admits the call.
 */
export function useAuthentication(): Plugin<GraphqlContext> {
  const hook = async ({ args }: { args: OperationArgs }) => {
    const operation = getOperationAST(args.document, args.operationName ?? undefined)
    if (operation == null || !needsCaller(args.schema, operation)) return
    const context = args.contextValue as GraphqlContext
    // Filters of relations need the caller at once.
    await readCredential(context.services, context)
  }
  return { onExecute: hook, onSubscribe: hook }
}

/** For `extensions` of a root field that judges credentials itself or needs none. */
export const JUDGES_CREDENTIALS = { judgesCredentials: true } as const

/** The same for a subscription that begins a call, which no request with GET may do. */
export const STARTS_CALL = { ...JUDGES_CREDENTIALS, startsCall: true } as const

interface OperationArgs {
  readonly document: DocumentNode
  readonly schema: GraphQLSchema
  readonly operationName?: string | null | undefined
  readonly contextValue?: unknown
}

function needsCaller(schema: GraphQLSchema, { operation, selectionSet }: OperationDefinitionNode): boolean {
  const fields = schema.getRootType(operation)?.getFields() ?? {}
  return selectionSet.selections.some((selection) => {
    // A fragment may contain any field. Clients hardly ever wrap `login` or `chat` alone in one, and a look-up too many does no harm.
    if (selection.kind !== Kind.FIELD) return true
    const name = selection.name.value
    return !name.startsWith('__') && fields[name]?.extensions.judgesCredentials !== true
  })
}
