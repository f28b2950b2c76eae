import { countTokens } from '../replies/compose-reply.ts'
import type { MadeFile } from '../replies/made-files.ts'
import type { Script } from '../replies/player.ts'
import { frame } from '../replies/sse.ts'
import { json } from '../serving/answer.ts'
import type { JsonRecord } from '../serving/narrow.ts'
import { errorFrame, fastGptErrors, jsonError } from './errors.ts'
import type { FastGptQuestion } from './interactive.ts'

export interface FastGptDialect {
  readonly version: 'v1' | 'v2'
  /** Until August 2025 v1 sent `flowResponses` after `[DONE]`; releases of 2026 also give chats a title. */
  readonly year: 2025 | 2026
  readonly detail: boolean
}

export interface FastGptRun {
  readonly chatId: string
  readonly query: string
  readonly isNew: boolean
  readonly variables: JsonRecord
  readonly promptTokens: number
  readonly finish: 'stop' | 'length'
  /** `skipped`: no node runs after a select, since the answer was none of its options. */
  readonly outcome: 'answer' | 'node-failed' | 'skipped' | FastGptQuestion
  readonly files: readonly MadeFile[]
}

const START_NODE = {
  id: 'k1',
  nodeId: '448745',
  moduleName: '流程开始',
  moduleType: 'workflowStart',
  runningTime: 0,
}
const NODE_ERROR = '401 Incorrect API key provided'

/** A run of an app with two nodes: the start, and either a model or a choice. */
export function fastGptScript({ version, year, detail }: FastGptDialect, run: FastGptRun): Script {
  const { chatId, variables, outcome } = run
  const question = typeof outcome === 'object' ? outcome : undefined
  const detailFrame = (event: string, data: unknown) => (detail ? frame(JSON.stringify(data), event) : '')
  const answerFrame = (data: string) => frame(data, detail ? 'answer' : undefined)
  const hasVariables = Object.keys(variables).length > 0

  return {
    streamHeaders: {
      'content-type': 'text/event-stream;charset=utf-8',
      'x-accel-buffering': 'no',
      'cache-control': 'no-cache, no-transform',
    },
    opening: () =>
      [
        detailFrame('flowNodeStatus', { status: 'running', name: '流程开始' }),
        version === 'v2' ? detailFrame('flowNodeResponse', START_NODE) : '',
        outcome === 'skipped'
          ? ''
          : detailFrame('flowNodeStatus', { status: 'running', name: question?.name ?? 'AI 对话' }),
        question ? detailFrame('interactive', { interactive: interactive(question, run.query) }) : '',
      ].join(''),
    fragment: (text) => answerFrame(chunk({ content: text }, null)),
    closing(text) {
      const files = run.files.length > 0 ? answerFrame(chunk({ content: run.files.map(part) }, null)) : ''
      const stop = answerFrame(chunk({ content: null }, 'stop'))
      const done = answerFrame('[DONE]')
      // The title has an event line even if the client did not request detail.
      const title =
        year === 2026 && run.isNew ? frame(JSON.stringify({ title: titleOf(run.query) }), 'chatTitle') : ''
      const updated = hasVariables ? detailFrame('updateVariables', variables) : ''
      if (version === 'v2') {
        const [, node] = nodes(run, text)
        const finished = node ? detailFrame('flowNodeResponse', node) : ''
        return (
          files +
          finished +
          updated +
          title +
          detailFrame('workflowDuration', { durationSeconds: 2.31 }) +
          stop +
          done
        )
      }
      const responses = detailFrame('flowResponses', nodes(run, text))
      return files + updated + title + stop + (year === 2025 ? done + responses : responses + done)
    },
    failure: () => errorFrame({ message: 'Connection error.' }),
    heartbeat: () => answerFrame(chunk({ content: '' }, null)),
    blocking(text) {
      const content =
        question && detail
          ? [{ type: 'interactive', interactive: interactive(question, run.query) }]
          : values(run, text)
      return json(200, {
        ...(outcome === 'node-failed' && { error: { message: NODE_ERROR } }),
        ...(detail && { responseData: nodes(run, text), newVariables: variables }),
        id: chatId,
        model: '',
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 1 },
        choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop', index: 0 }],
      })
    },
    blockingFailure: () => jsonError(fastGptErrors.server),
  }
}

/** FastGPT leaves `id`, `object`, `created` and `model` blank on every frame. */
function chunk(delta: { content: string | null | readonly object[] }, finishReason: 'stop' | null): string {
  const choice = { delta: { role: 'assistant', ...delta }, index: 0, finish_reason: finishReason }
  return JSON.stringify({ id: '', object: '', created: 0, model: '', choices: [choice] })
}

/** A file as FastGPT has it in messages of an API. */
function part({ type, name, url }: MadeFile): object {
  return type === 'image' ? { type: 'image_url', image_url: { url } } : { type: 'file_url', name, url }
}

/** The text alone, or in the list of values of which a chat keeps a message. */
function values({ files }: FastGptRun, text: string): string | readonly object[] {
  if (files.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text', text: { content: text } }]),
    ...files.map(({ type, name, url }) => ({
      type: 'file',
      file: { type: type === 'image' ? 'image' : 'file', name, url },
    })),
  ]
}

function nodes({ outcome, query, promptTokens, finish }: FastGptRun, text: string): readonly object[] {
  if (outcome === 'skipped' || typeof outcome === 'object') return [START_NODE]
  const place = {
    id: 'k2',
    nodeId: 'loOvhld2ZTKa',
    moduleName: 'AI 对话',
    moduleType: 'chatNode',
    runningTime: 1.86,
  }
  if (outcome === 'node-failed')
    return [START_NODE, { totalPoints: 0, query, errorText: NODE_ERROR, ...place }]
  const chatNode = {
    totalPoints: 0.0123,
    model: 'sandbox',
    inputTokens: promptTokens,
    outputTokens: countTokens(text),
    query,
    maxToken: 4000,
    historyPreview: [
      { obj: 'Human', value: query },
      { obj: 'AI', value: text },
    ],
    contextTotalLen: 2,
    finishReason: finish,
    ...place,
  }
  return [START_NODE, chatNode]
}

function interactive({ type, params }: FastGptQuestion, query: string) {
  return {
    type,
    params,
    entryNodeIds: ['rZ5d6BdT'],
    memoryEdges: [],
    nodeOutputs: [{ nodeId: '448745', key: 'userChatInput', value: query }],
  }
}

function titleOf(query: string): string {
  return query.slice(0, 20)
}
