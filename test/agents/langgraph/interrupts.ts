import { interrupt } from '@langchain/langgraph'
import type { PauseKind } from '@trunkline/sandbox/src/replies/faults.ts'
import type { Language } from '@trunkline/sandbox/src/replies/language.ts'
import { asRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import { OPTIONS } from './options.ts'

/** What an interrupt was answered with. */
export interface Answer {
  /** The message whose turn it belongs to. */
  readonly to: string | undefined
  readonly value: unknown
}

/** Interrupts the graph until it is answered. LangGraph runs the node again from its beginning with each answer. */
export function askFor(
  kind: PauseKind | 'review' | 'confirm',
  question: string,
  language: Language,
): readonly unknown[] {
  const words = WORDS[language]
  const choice = { question: words.ask(question), options: OPTIONS[language] }
  switch (kind) {
    case 'text':
      return [interrupt(words.fill(question))]
    case 'form':
      return [askUntilFilled({ question: words.fill(question), schema: SCHEMA })]
    case 'empty':
      return [interrupt({})]
    case 'review':
      return [interrupt(review(question))]
    case 'confirm':
      return [interrupt({ ...choice, question: words.again })]
    case 'twice':
      return [interrupt(choice), interrupt({ ...choice, question: words.again })]
    default:
      return [interrupt(choice)]
  }
}

/** A form takes no text. */
function askUntilFilled(form: object): unknown {
  for (;;) {
    const value = interrupt(form)
    if (Object.keys(asRecord(value)).length > 0) return value
  }
}

const SCHEMA = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    comment: { type: 'string' },
    size: { type: 'string', enum: ['small', 'medium', 'large'] },
  },
  required: ['approved'],
  additionalProperties: false,
}

/** What LangChain's `humanInTheLoopMiddleware` asks, which is answered by `{ decisions: [{ type }] }`. */
function review(question: string) {
  const name = 'weather'
  const args = { city: question }
  const description = `Tool execution requires approval\n\nTool: ${name}\nArgs: ${JSON.stringify(args, undefined, 2)}`
  return {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'edit', 'reject'] }],
  }
}

interface Words {
  ask(question: string): string
  fill(question: string): string
  readonly again: string
}

const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    ask: (question) => `Shall I go on with “${question}”?`,
    fill: (question) => `What should I know about “${question}”?`,
    again: 'Are you sure?',
  },
  zh: {
    ask: (question) => `要继续处理“${question}”吗？`,
    fill: (question) => `关于“${question}”，还有什么要说明的？`,
    again: '确定吗？',
  },
}
