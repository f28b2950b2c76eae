import type { EventEmitter } from 'node:events'
import { composeReply } from '@trunkline/sandbox/src/replies/compose-reply.ts'
import { describeAnswer } from '@trunkline/sandbox/src/replies/describe-answer.ts'
import type { Faults } from '@trunkline/sandbox/src/replies/faults.ts'
import { splitFragments } from '@trunkline/sandbox/src/replies/fragments.ts'
import { languageOf } from '@trunkline/sandbox/src/replies/language.ts'
import { listFiles } from '@trunkline/sandbox/src/serving/list-files.ts'
import { asList, asRecord, asText, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'
import { filesIn, textIn } from './content.ts'
import type { ModelMetadata, ModelPart } from './model-part.ts'
import { OPTIONS } from './options.ts'
import { readCommands } from './words.ts'

/** What the model is going to say. */
export interface ModelReply {
  /** LangGraph's id of the run. */
  readonly run: string
  readonly part: ModelPart
  readonly query: string
  readonly faults: Faults
  readonly reasoning: string
  readonly fragments: readonly string[]
  readonly toolCall: object | undefined
  readonly finish: 'stop' | 'length' | 'tool_calls'
  readonly promptTokens: number
  /** How many fragments precede a fault that strikes amid the reply. */
  readonly middle: number
}

const REAL = { name: 'LangGraph', platform: 'langgraph', baseUrl: 'https://agent.example.com' }
const REASONING = '先想一想，再回答。'

/** Reads a request of chat completions and composes the reply, for which it reads the files of the question. */
export async function planReply(body: JsonRecord, response: EventEmitter): Promise<ModelReply> {
  const { run, part, answers, variables } = readMetadata(body.metadata)
  const messages = asList(body.messages).map(asRecord)
  const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content)
  const content = questions.at(-1)
  const query = textIn(content)
  const { faults, words } = readCommands(query)
  const wantsTool = asList(body.tools).length > 0 && messages.at(-1)?.role === 'user'
  const composed = composeReply({
    real: REAL,
    faults,
    earlier: questions.slice(0, -1).map(textIn),
    files: await listFiles(filesIn(content), response),
  })
  const said = words.has('langgraph:variables')
    ? splitFragments(linesOf(variables))
    : [...splitFragments(describe(answers)), ...composed.fragments]
  const fragments = wantsTool ? [] : partOf(said, part, faults.question)
  return {
    ...{ run, part, query, faults, fragments },
    reasoning: words.has('langgraph:reasoning') ? REASONING : '',
    toolCall: wantsTool ? callOf(run) : undefined,
    finish: wantsTool ? 'tool_calls' : composed.finish,
    promptTokens: composed.promptTokens,
    middle: middleOf(fragments),
  }
}

function readMetadata(value: unknown): ModelMetadata {
  const { run, part, answers, variables } = asRecord(value)
  return {
    run: asText(run),
    part: part as ModelPart,
    answers: asList(answers),
    variables: asRecord(variables),
  }
}

function partOf(fragments: readonly string[], part: ModelPart, question: string): readonly string[] {
  const middle = middleOf(fragments)
  switch (part) {
    case 'answer':
      return fragments
    case 'first half':
      return fragments.slice(0, middle)
    case 'second half':
      return fragments.slice(middle)
    case 'plan':
      return splitFragments(`First I read “${question}”, then I answer.`)
  }
}

function middleOf({ length }: readonly string[]): number {
  return Math.max(1, length >> 1)
}

function callOf(run: string): object {
  const call = { name: 'weather', arguments: JSON.stringify({ city: '沙箱 sandbox' }) }
  return { id: `call_${run.replaceAll('-', '')}`, type: 'function', function: call }
}

function linesOf(variables: JsonRecord): string {
  return Object.entries(variables)
    .map(([name, value]) => `- ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n')
}

/** Says what the interrupts were answered with. */
function describe(answers: readonly unknown[]): string {
  return answers.map(describeOne).join('')
}

function describeOne(answer: unknown): string {
  if (typeof answer !== 'string') return describeAnswer('en', { fields: asRecord(answer) })
  const language = languageOf(answer)
  const isOption = OPTIONS[language].includes(answer)
  return describeAnswer(language, isOption ? { chosen: answer } : { said: answer })
}
