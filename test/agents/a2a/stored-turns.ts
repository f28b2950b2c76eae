import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import { Conversations } from '@trunkline/sandbox/src/serving/conversations.ts'
import type { Run, Runs } from '@trunkline/sandbox/src/serving/runs.ts'

/** What the agent has stored of a message when it begins to answer. */
interface StoredTurn {
  readonly run: Run
  /** The earlier questions of the context, oldest first. */
  readonly earlier: readonly string[]
}

/** The questions of each context. A context that the agent does not know yet begins with its first question. */
export class StoredTurns {
  readonly #contexts = new Conversations()
  readonly #runs: Runs

  constructor(runs: Runs) {
    this.#runs = runs
  }

  begin(taskId: string, contextId: string, query: string): StoredTurn {
    const { questions } = this.#contexts.find(contextId) ?? this.#contexts.create(contextId)
    const earlier = questions.slice()
    questions.push(query)
    return { earlier, run: this.#runs.begin({ id: taskId, conversationId: contextId, query }) }
  }
}

/** Waits before the first byte, if the question asks for it. */
export async function waitFirst(run: Run, { has, number }: Faults): Promise<void> {
  if (has('sandbox:slow-first')) await run.pause(number('sandbox:slow-first', 3_000))
}
