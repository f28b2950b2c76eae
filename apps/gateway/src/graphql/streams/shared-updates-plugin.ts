import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  getOperationAST,
  Kind,
  mapSourceToResponseEvent,
  type OperationDefinitionNode,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { UsageUpdate } from '#core/reports/usage-today.ts'
import type { GraphqlContext } from '../context.ts'
import type { ItemOrError } from './item-or-error.ts'
import type { Results } from './results.ts'

/**
 * Executes `usageUpdated` once for all subscribers that get the same update by the same document, such as the open windows
 * of one user. An execution costs several times what it costs to send its text, and a change of a user's quota goes to all
 * of its subscriptions at once.
 */
export function useSharedUpdates(): Plugin<GraphqlContext> {
  return {
    onSubscribe({ args, setSubscribeFn }) {
      const operation = getOperationAST(args.document, args.operationName ?? undefined)
      if (operation != null && selectsUpdates(operation)) setSubscribeFn(subscribeShared)
    },
  }
}

type Data = NonNullable<ExecutionResult['data']>

/** A result that several subscribers get, with its text, which is made once. */
export class SharedResult implements ExecutionResult {
  readonly data: Data
  #text: string | undefined

  constructor(data: Data) {
    this.data = data
  }

  get text(): string {
    this.#text ??= JSON.stringify({ data: this.data })
    return this.#text
  }
}

/** A field within a fragment is not found, and its results are made for each subscriber. */
function selectsUpdates({ selectionSet: { selections } }: OperationDefinitionNode): boolean {
  const [field] = selections
  return selections.length === 1 && field?.kind === Kind.FIELD && field.name.value === 'usageUpdated'
}

async function subscribeShared(args: ExecutionArgs): Promise<Results> {
  const validated = validateSubscriptionArgs(args)
  if (!('schema' in validated)) return { errors: validated }
  const source = await createSourceEventStream(validated)
  return isAsyncIterable(source) ? mapSourceToResponseEvent(validated, source, sharedResultOf) : source
}

/** A cache beside the updates, which the feed makes without knowing of GraphQL, and which end with their last reader. */
const results = new WeakMap<UsageUpdate, Map<OperationDefinitionNode, Map<string, SharedResult>>>()

/**
 * The result depends on nothing but these three: the fields of an update are plain values. Documents that are sent again are
 * parsed once, so equal documents have the same operation.
 */
function sharedResultOf(args: ValidatedSubscriptionArgs): ReturnType<typeof executeSubscriptionEvent> {
  const itemOrError = args.rootValue as ItemOrError<UsageUpdate>
  if ('error' in itemOrError) return executeSubscriptionEvent(args)
  const ofUpdate =
    results.get(itemOrError.item) ?? new Map<OperationDefinitionNode, Map<string, SharedResult>>()
  results.set(itemOrError.item, ofUpdate)
  const ofOperation = ofUpdate.get(args.operation) ?? new Map<string, SharedResult>()
  ofUpdate.set(args.operation, ofOperation)
  const variables = JSON.stringify(args.variableValues.coerced)
  const known = ofOperation.get(variables)
  if (known !== undefined) return known
  const result = executeSubscriptionEvent(args)
  if (!('data' in result) || result.data == null || result.errors !== undefined) return result
  const shared = new SharedResult(result.data)
  ofOperation.set(variables, shared)
  return shared
}
