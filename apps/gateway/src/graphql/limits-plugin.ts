import { type DocumentNode, type GraphQLSchema, getOperationAST, parse } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { BoundedMap } from '#core/bounded-map.ts'
import { fail } from '#core/errors.ts'
import type { GraphqlContext } from './context.ts'
import { OPERATION_LIMITS, requireSmallOperation } from './operation-limits.ts'

/** Refuses operations that ask for too much. Must come before the plugin that looks up the credential, which reads the database. */
export function useOperationLimits(): Plugin<GraphqlContext> {
  const hook = ({ args }: { args: OperationArgs }) => {
    const { schema, document } = args
    const operation = getOperationAST(document, args.operationName ?? undefined)
    if (operation == null) return
    requireSmallOperation({ schema, document, operation, variables: args.variableValues ?? {} })
  }
  return {
    onParse({ setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, maxTokens: OPERATION_LIMITS.tokens }))
    },
    onExecute: hook,
    onSubscribe(payload) {
      hook(payload)
      const { canStream } = payload.args.contextValue as GraphqlContext
      // Otherwise a chat would begin, and its reply could not be sent.
      if (!canStream) fail('not_acceptable', EVENT_STREAM_EXPECTED)
    },
  }
}

const EVENT_STREAM_EXPECTED = 'accept: expected text/event-stream for a subscription.'

interface OperationArgs {
  readonly document: DocumentNode
  readonly schema: GraphQLSchema
  readonly operationName?: string | null | undefined
  readonly variableValues?: Record<string, unknown> | null | undefined
}

/**
 * Parsed documents, kept for the next request. Few and short ones, because anybody can fill it. Documents that do not parse
 * are not kept.
 */
export const DOCUMENT_CACHE = {
  documentCache: new (class extends BoundedMap<string, DocumentNode> {
    override set(text: string, document: DocumentNode): this {
      return text.length > CACHED_CHARACTERS_MAX ? this : super.set(text, document)
    }
  })(100),
  errorCache: { get: () => undefined, set: () => undefined },
}

const CACHED_CHARACTERS_MAX = 8_192
