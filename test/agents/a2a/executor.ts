import { EventEmitter } from 'node:events'
import { TaskState } from '@a2a-js/sdk'
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server'
import { composeReply } from '@trunkline/sandbox/src/replies/compose-reply.ts'
import { splitFragments } from '@trunkline/sandbox/src/replies/fragments.ts'
import { madeFiles } from '@trunkline/sandbox/src/replies/made-files.ts'
import type { EmulatorDeps } from '@trunkline/sandbox/src/serving/emulator.ts'
import { listFiles } from '@trunkline/sandbox/src/serving/list-files.ts'
import type { Run } from '@trunkline/sandbox/src/serving/runs.ts'
import { answerOf, type Pause, pauseOf, publishPause, repeatAnswer } from './pause.ts'
import { readCommands, readQuestion } from './question.ts'
import { type PlannedReply, publishMessage, publishProgress, publishReply } from './reply.ts'
import { type StoredTurns, waitFirst } from './stored-turns.ts'
import { publishCanceled, Turn } from './turn.ts'

const REAL = { name: 'A2A', platform: 'a2a', baseUrl: 'https://agent.example.com' }

/** The agent behind the SDK: answers messages, waits for answers, and is cancelled. */
export class SandboxExecutor implements AgentExecutor {
  readonly #deps: EmulatorDeps
  readonly #turns: StoredTurns
  readonly #pauses = new Map<string, Pause>()

  constructor(deps: EmulatorDeps, turns: StoredTurns) {
    this.#deps = deps
    this.#turns = turns
  }

  /** The run that works on a task, or that waits in it for an answer. */
  runOf(taskId: string): Run | undefined {
    return this.#deps.runs.get(taskId) ?? this.#pauses.get(taskId)?.rest.run
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const turn = new Turn(context, bus)
    const pause = this.#pauses.get(turn.taskId)
    if (pause === undefined) await this.#begin(turn)
    else await this.#goOn(turn, pause)
  }

  /** The turn that is halted publishes the end. A task that waits has no such turn. */
  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const run = this.runOf(taskId)
    if (run === undefined || readCommands(run.query).words.has('a2a:deaf')) return
    run.halt('stopped')
    if (this.#pauses.delete(taskId)) publishCanceled(bus, taskId, run.conversationId)
  }

  async #begin(turn: Turn): Promise<void> {
    const reply = await this.#plan(turn)
    const { run, question } = reply
    await untilHalted(turn, run, async () => {
      await waitFirst(run, question.faults)
      // Heartbeats are not known to A2A.
      if (question.faults.has('sandbox:hang') || question.faults.has('sandbox:pings')) await run.hold()
      if (question.words.has('a2a:message')) return publishMessage(turn, reply)
      turn.open()
      const pause = pauseOf(reply)
      if (pause === undefined) return publishReply(turn, reply)
      publishProgress(turn)
      this.#wait(turn, pause)
    })
  }

  async #plan(turn: Turn): Promise<PlannedReply> {
    const question = readQuestion(turn.message)
    const { query, faults } = question
    // The agent reads files even if its client has left.
    const files = await listFiles(question.files, new EventEmitter())
    const made = madeFiles(faults, turn.caller)
    const { run, earlier } = this.#turns.begin(turn.taskId, turn.contextId, query)
    const composed = composeReply({ real: REAL, faults, earlier, files, isSilent: made.isAlone })
    const { fragments, promptTokens } = composed
    const delayMs = faults.has('sandbox:slow') ? faults.number('sandbox:slow', 100) : this.#deps.delayMs
    return { run, question, fragments, made, promptTokens, delayMs }
  }

  async #goOn(turn: Turn, pause: Pause): Promise<void> {
    const question = readQuestion(turn.message)
    const answer = answerOf(pause, question)
    const { run, fragments } = pause.rest
    turn.open()
    if (answer === undefined) return publishPause(turn, pause)
    this.#pauses.delete(turn.taskId)
    this.#deps.runs.resume(run, answer)
    await untilHalted(turn, run, async () => {
      if (pause.more > 0) return this.#wait(turn, { ...pause, more: pause.more - 1 }, true)
      const said = splitFragments(repeatAnswer(question))
      await publishReply(turn, { ...pause.rest, fragments: [...said, ...fragments] })
    })
  }

  #wait(turn: Turn, pause: Pause, isAgain = false): void {
    this.#pauses.set(turn.taskId, pause)
    publishPause(turn, pause, isAgain)
  }
}

/** Runs a turn to its end, or until the run is halted: by a call that cancels the task, or because the agent is closed. */
async function untilHalted(turn: Turn, run: Run, work: () => Promise<void> | void): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!run.halted) throw error
    if (run.state === 'stopped') turn.status(TaskState.TASK_STATE_CANCELED)
  } finally {
    if (run.state !== 'paused') run.finish()
  }
}
