import { type Part, TaskState } from '@a2a-js/sdk'
import { describeAnswer } from '@trunkline/sandbox/src/replies/describe-answer.ts'
import { type Language, languageOf } from '@trunkline/sandbox/src/replies/language.ts'
import type { Question } from './question.ts'
import type { PlannedReply } from './reply.ts'
import { dataPart, type Turn, textPart } from './turn.ts'

/** A task that waits for an answer. */
export interface Pause {
  readonly kind: 'choice' | 'form' | 'sign-in'
  /** How many questions follow the answer. */
  readonly more: number
  /** What the agent says after the last answer. */
  readonly rest: PlannedReply
}

/** Returns how a task begins to wait; undefined if it does not. */
export function pauseOf(reply: PlannedReply): Pause | undefined {
  const { faults } = reply.question
  const more = faults.pause === 'twice' ? 1 : 0
  if (faults.has('sandbox:requires-action')) return { kind: 'sign-in', more, rest: reply }
  if (faults.pause === undefined) return undefined
  return { kind: faults.pause === 'form' ? 'form' : 'choice', more, rest: reply }
}

/** Publishes what the task waits for, with which a stream ends. */
export function publishPause(turn: Turn, { kind, rest }: Pause, isAgain = false): void {
  const { run, question } = rest
  run.suspend()
  const isSignIn = kind === 'sign-in'
  turn.status(
    isSignIn ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED,
    partsOf(kind, question.faults.question, isAgain),
  )
}

function partsOf(kind: Pause['kind'], question: string, isAgain: boolean): readonly Part[] {
  const words = WORDS[languageOf(question)]
  switch (kind) {
    case 'choice':
      return [textPart(isAgain ? words.again : words.ask(question))]
    case 'form':
      return [textPart(words.fill(question)), dataPart({ suspendPayload: toolCall(question) })]
    case 'sign-in':
      return [textPart(words.signIn)]
  }
}

/** Returns what answers the pause: the fields of a `data` part, or else a text. A form takes no text. */
export function answerOf({ kind }: Pause, { data, faults }: Question): unknown {
  if (Object.keys(data).length > 0) return data
  return kind === 'form' ? undefined : faults.question
}

/** Says what a pause was answered with. */
export function repeatAnswer({ data, faults }: Question): string {
  const { question: said } = faults
  const hasFields = Object.keys(data).length > 0
  const answer = hasFields ? { fields: data, ...(said !== '' && { said }) } : { said }
  return describeAnswer(languageOf(said), answer)
}

/** A call of a tool that waits for approval, as Mastra describes it. */
function toolCall(question: string) {
  return {
    toolName: 'go-on',
    args: { question },
    resumeSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        comment: { type: 'string' },
        size: { type: 'string', enum: ['small', 'medium', 'large'] },
      },
      required: ['approved'],
      additionalProperties: false,
    },
  }
}

interface Words {
  ask(question: string): string
  fill(question: string): string
  readonly again: string
  readonly signIn: string
}

const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    ask: (question) => `Shall I go on with “${question}”?`,
    fill: (question) => `What should I know about “${question}”?`,
    again: 'Are you sure?',
    signIn: 'Sign in to the calendar, and tell me when you have.',
  },
  zh: {
    ask: (question) => `要继续处理“${question}”吗？`,
    fill: (question) => `关于“${question}”，还有什么要说明的？`,
    again: '确定吗？',
    signIn: '请先登录日历，然后告诉我。',
  },
}
