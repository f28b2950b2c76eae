import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TaskState } from '@a2a-js/sdk'
import { countTokens } from '@trunkline/sandbox/src/replies/compose-reply.ts'
import type { MadeFiles } from '@trunkline/sandbox/src/replies/made-files.ts'
import type { Run } from '@trunkline/sandbox/src/serving/runs.ts'
import { breakOf } from './connection.ts'
import type { Question } from './question.ts'
import { dataPart, filePart, type Turn, textPart } from './turn.ts'

/** What the agent is going to say, and how it fails meanwhile. */
export interface PlannedReply {
  readonly run: Run
  readonly question: Question
  readonly fragments: readonly string[]
  readonly made: MadeFiles
  readonly promptTokens: number
  /** Between two fragments. */
  readonly delayMs: number
}

const REPLACEMENT = '抱歉，我不能回答。Sorry, I cannot answer that.'
const FAILURE = 'The model failed: upstream connect error at 10.0.0.7'

/** Publishes all that follows the task, up to its last state. */
export async function publishReply(turn: Turn, reply: PlannedReply): Promise<void> {
  const { run, question, made } = reply
  const { faults, words } = question
  if (faults.has('sandbox:error-first')) return publishEnd(turn, run, TaskState.TASK_STATE_FAILED, FAILURE)
  if (words.has('a2a:rejected')) {
    return publishEnd(turn, run, TaskState.TASK_STATE_REJECTED, 'I do not answer such questions.')
  }
  publishProgress(turn)
  if (words.has('a2a:data')) {
    const { question: text } = faults
    turn.artifact([dataPart({ question: text, variables: question.data })], artifactNamed('data'))
  } else if (words.has('a2a:status')) {
    await sayUnheard(reply)
  } else if (!(await publishText(turn, reply))) {
    return
  }
  if (made.files.length > 0) turn.artifact(made.files.map(filePart), artifactNamed('files'))
  if (words.has('a2a:cut-after-end')) {
    const how = words.value('a2a:cut-after-end') === 'quiet' ? 'ended' : 'cut'
    await turn.caller.connection.close(turn.published, how)
  }
  const answer = words.has('a2a:status') ? run.text : ''
  publishEnd(turn, run, TaskState.TASK_STATE_COMPLETED, answer, usageOf(reply))
}

/** Answers with a message alone, so that no task is stored. */
export async function publishMessage(turn: Turn, reply: PlannedReply): Promise<void> {
  await sayUnheard(reply)
  reply.run.finish()
  turn.answer([textPart(reply.run.text), ...reply.made.files.map(filePart)])
}

export function publishProgress(turn: Turn): void {
  turn.status(TaskState.TASK_STATE_WORKING, [textPart('Thinking about it.')])
}

async function sayUnheard({ run, fragments, delayMs }: PlannedReply): Promise<void> {
  for (const fragment of fragments) {
    run.say(fragment)
    await run.pause(delayMs)
  }
}

/** Publishes the text in pieces. Returns whether it has come to its end. */
async function publishText(turn: Turn, reply: PlannedReply): Promise<boolean> {
  const { run, question, fragments, delayMs } = reply
  const { faults } = question
  const middle = Math.max(1, fragments.length >> 1)
  const replaces = faults.has('sandbox:replace')
  const splits = faults.has('sandbox:multi')
  let place = artifactNamed('answer')
  for (const [index, fragment] of fragments.entries()) {
    const count = index + 1
    if (splits && index === middle) place = artifactNamed('second answer')
    const append = index > 0 && !(splits && index === middle)
    const lastChunk = (count === fragments.length && !replaces) || (splits && count === middle)
    run.say(fragment)
    turn.artifact([textPart(fragment)], { ...place, append, lastChunk })
    if (index === 0 && faults.has('sandbox:silence')) await strike(turn, reply)
    // Each piece leaves in a turn of the event loop of its own, in which the task may also be cancelled.
    await nextTurn()
    await run.pause(delayMs)
    if (count === middle && (await failAmid(turn, reply))) return false
  }
  if (replaces) turn.artifact([textPart(REPLACEMENT)], place)
  return true
}

/** Applies the faults that strike amid the text. Returns whether the reply is over. */
async function failAmid(turn: Turn, reply: PlannedReply): Promise<boolean> {
  const { run, question } = reply
  const { faults, words } = question
  await strike(turn, reply)
  if (words.has('a2a:throws')) throw new Error(FAILURE)
  if (faults.has('sandbox:error-midstream')) publishEnd(turn, run, TaskState.TASK_STATE_FAILED, FAILURE)
  return run.state === 'finished' || words.has('a2a:stops-short')
}

/** Breaks the connection, if the question asks for it. The task then goes on until it is cancelled. */
async function strike(turn: Turn, { run, question }: PlannedReply): Promise<void> {
  const fault = breakOf(question.faults)
  if (fault === undefined) return
  await turn.caller.connection.strike(fault, turn.taskId, turn.published)
  await run.hold()
}

/** Finishes the run before the event, so that a client may send its next message as soon as it has read it. */
function publishEnd(
  turn: Turn,
  run: Run,
  state: TaskState,
  text: string,
  metadata?: Record<string, unknown>,
): void {
  run.finish()
  turn.status(state, text === '' ? [] : [textPart(text)], metadata)
}

function usageOf({ run, question, promptTokens }: PlannedReply): Record<string, unknown> | undefined {
  if (!question.words.has('a2a:usage')) return undefined
  const outputTokens = countTokens(run.text)
  const usage = { inputTokens: promptTokens, outputTokens, totalTokens: promptTokens + outputTokens }
  return { execution: { usage } }
}

function artifactNamed(name: string) {
  return { id: randomUUID(), name }
}
