import { type DocumentNode, type GraphQLSchema, getOperationAST, Kind } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { showLimit } from '#http/response/show-headers.ts'
import type { GraphqlContext } from '../context.ts'

/**
 * Counts each operation of an authenticated caller as one read, and lets the operations of one user take turns, as REST does
 * with its reads. A mutation is one as well, because its payload may lead to as many objects as a query. Must come after the
 * plugin that looks up the credential.
 */
export function useReadTurns(): Plugin<GraphqlContext> {
  return {
    async onExecute({ args }) {
      const context = args.contextValue as GraphqlContext
      const { caller } = context.credential
      if (caller === undefined || !needsTurn(args)) return undefined
      const endTurn = await context.services.reads.begin(caller, showLimit(context.reply), context.signal)
      return { onExecuteDone: () => endTurn() }
    },
  }
}

/** For `extensions` of a root field that takes a point of a limit of its own. */
export const HAS_OWN_LIMIT = { hasOwnLimit: true } as const

interface OperationArgs {
  readonly document: DocumentNode
  readonly schema: GraphQLSchema
  readonly operationName?: string | null | undefined
}

function needsTurn({ document, schema, operationName }: OperationArgs): boolean {
  const operation = getOperationAST(document, operationName ?? undefined)
  const fields = operation && schema.getRootType(operation.operation)?.getFields()
  return (operation?.selectionSet.selections ?? []).some((selection) => {
    // A fragment may contain any field.
    if (selection.kind !== Kind.FIELD) return true
    const name = selection.name.value
    return !name.startsWith('__') && fields?.[name]?.extensions.hasOwnLimit !== true
  })
}
