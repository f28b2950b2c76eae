import type { FastifyBaseLogger } from 'fastify'
import { type ExecutionResult, getOperationAST, type OperationDefinitionNode } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { AsyncQueue } from '#core/base/async/async-queue.ts'
import { type Executed, rootFieldsOf } from '../admission/root-fields.ts'
import type { GraphqlContext } from '../context.ts'

/** What the metrics count. */
export interface GraphqlObserver {
  /** An operation has ended. `name` is one of a bounded number of names. */
  graphqlOperation(type: string, name: string, seconds: number): void
  graphqlError(code: string): void
  subscriptionStarted(): void
  subscriptionEnded(): void
}

/**
 * Counts operations and their errors, and logs one line for each, from an allow-list: neither variables nor anything of the
 * document but its name and its root fields, since literals may be secrets.
 */
export function useOperationLog(observer: GraphqlObserver, log: FastifyBaseLogger): Plugin<GraphqlContext> {
  const labels = new Labels()

  const begin = ({ args }: { args: OperationArgs }) => {
    const startedMs = performance.now()
    const { http } = args.contextValue as GraphqlContext
    const operation = getOperationAST(args.document, args.operationName ?? undefined)
    const type = operation?.operation ?? 'unknown'
    const name = nameOf(operation)
    return {
      add: (result: ExecutionResult, codes: Set<string>) => {
        for (const { extensions } of result.errors ?? []) codes.add(String(extensions.code))
      },
      end: (codes: ReadonlySet<string>) => {
        const ms = performance.now() - startedMs
        observer.graphqlOperation(type, labels.of(name), ms / 1000)
        const reasons = codes.size === 0 ? undefined : [...codes]
        const fields = namesOf(args)
        log.info(
          {
            reqId: http.id,
            trace_id: http.trace?.traceId,
            type,
            name,
            fields,
            ms: Math.round(ms * 10) / 10,
            reasons,
            call: http.callId,
          },
          'operation',
        )
      },
    }
  }

  const count = ({ errors }: ExecutionResult) => {
    for (const { extensions } of errors ?? []) observer.graphqlError(String(extensions.code))
  }

  return {
    // Sees the errors of documents that were not executed as well.
    onExecutionResult({ result }) {
      if (result !== undefined && !Array.isArray(result) && !isAsyncIterable(result)) count(result)
    },
    onExecute(payload) {
      const { add, end } = begin(payload)
      return {
        onExecuteDone({ result }) {
          const codes = new Set<string>()
          if (!isAsyncIterable(result)) add(result, codes)
          end(codes)
        },
      }
    },
    onSubscribe(payload) {
      const { add, end } = begin(payload)
      const codes = new Set<string>()
      return {
        onSubscribeResult({ result, setResult }) {
          if (!isAsyncIterable(result)) {
            add(result, codes)
            end(codes)
            return
          }
          observer.subscriptionStarted()
          const taken = (item: ExecutionResult) => {
            if (item.errors === undefined) return
            add(item, codes)
            count(item)
          }
          setResult(
            watched(result, taken, () => {
              observer.subscriptionEnded()
              end(codes)
            }),
          )
        },
      }
    },
  }
}

interface OperationArgs extends Executed {
  readonly contextValue?: unknown
}

/** The same results; `onEnd` is called once, however they end. */
function watched(
  results: AsyncIterable<ExecutionResult>,
  onItem: (item: ExecutionResult) => void,
  onEnd: () => void,
): AsyncIterableIterator<ExecutionResult> {
  const iterator = results[Symbol.asyncIterator]()
  const items = new AsyncQueue<ExecutionResult>({
    onWant() {
      iterator
        .next()
        .then(({ value, done }) => {
          if (done) return items.end()
          onItem(value)
          items.push([value])
        })
        .catch((error: unknown) => items.fail(error))
    },
    onLeave: () => iterator.return?.(),
    onClose: onEnd,
  })
  return items
}

const NAME_CHARACTERS_MAX = 64
const ANONYMOUS = '(anonymous)'
const OTHER = '(other)'

function nameOf(operation: OperationDefinitionNode | null | undefined): string {
  return operation?.name?.value.slice(0, NAME_CHARACTERS_MAX) ?? ANONYMOUS
}

const ROOT_FIELDS_MAX = 10

/** The names of the fields, not their aliases, at most ten. */
function namesOf(executed: Executed): readonly string[] {
  return [...new Set(rootFieldsOf(executed).map(({ name }) => name.value))].slice(0, ROOT_FIELDS_MAX)
}

/** The names that metrics show: clients choose them, so only the first hundred are kept apart. */
export class Labels {
  readonly #names = new Set<string>([ANONYMOUS])
  readonly #namesMax: number

  constructor(namesMax = 100) {
    this.#namesMax = namesMax
  }

  of(name: string): string {
    if (this.#names.has(name)) return name
    if (this.#names.size >= this.#namesMax) return OTHER
    this.#names.add(name)
    return name
  }
}
