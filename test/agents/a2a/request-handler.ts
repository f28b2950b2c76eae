import { randomUUID } from 'node:crypto'
import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk'
import { UnsupportedOperationError } from '@a2a-js/sdk/errors'
import { DefaultRequestHandler, InMemoryTaskStore, type ServerCallContext } from '@a2a-js/sdk/server'
import { callerOf } from './caller.ts'
import { cardAt, originOf } from './card.ts'
import type { SandboxExecutor } from './executor.ts'
import { readQuestion } from './question.ts'
import { a2aRefusal } from './refusals.ts'
import type { StoredTurns } from './stored-turns.ts'

/** The SDK's handler, which refuses what a command says, and responds with half a task when its connection is to break. */
export class SandboxRequestHandler extends DefaultRequestHandler {
  readonly #executor: SandboxExecutor
  readonly #turns: StoredTurns

  constructor(executor: SandboxExecutor, turns: StoredTurns) {
    const extendedCard = async (context?: ServerCallContext) =>
      cardAt(originOf(context === undefined ? {} : callerOf(context).headers))
    const card = cardAt(originOf({}))
    super(card, new InMemoryTaskStore(), executor, undefined, undefined, undefined, extendedCard)
    this.#executor = executor
    this.#turns = turns
  }

  override async sendMessage(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): Promise<Message | Task> {
    this.#refuse(params)
    const { struck } = callerOf(context).connection
    const soFar = struck.then((id) => this.getTask({ id, tenant: '' }, context))
    return Promise.race([super.sendMessage(params, context), soFar])
  }

  override async *sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    this.#refuse(params)
    yield* super.sendMessageStream(params, context)
  }

  #refuse({ message }: SendMessageRequest): void {
    if (message === undefined) return
    const { taskId, contextId } = message
    if (this.#executor.runOf(taskId)?.state === 'running') {
      throw new UnsupportedOperationError(`Task ${taskId} is working and takes no message.`)
    }
    const { query, faults } = readQuestion(message)
    const refusal = faults.error && a2aRefusal(faults.error)
    if (refusal !== undefined) throw refusal
    if (!faults.has('sandbox:error-stored')) return
    const { run } = this.#turns.begin(randomUUID(), contextId || randomUUID(), query)
    run.finish()
    throw a2aRefusal('server')
  }
}
