import { randomUUID } from 'node:crypto'
import { composeReply } from '../replies/compose-reply.ts'
import { describeAnswer } from '../replies/describe-answer.ts'
import { type Faults, parseFaults } from '../replies/faults.ts'
import { splitFragments } from '../replies/fragments.ts'
import { MADE_FILE_ROUTES, madeFiles } from '../replies/made-files.ts'
import { play } from '../replies/player.ts'
import { type Answer, htmlPage, json, plainText, Refusal } from '../serving/answer.ts'
import {
  addTurn,
  type Conversation,
  type ConversationPause,
  Conversations,
  newConversation,
  takePause,
} from '../serving/conversations.ts'
import type { Emulator, EmulatorDeps } from '../serving/emulator.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { type LinkedFile, listFiles } from '../serving/list-files.ts'
import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { chatRoutes } from './chat-routes.ts'
import { type FastGptError, fastGptErrors, jsonError, known, sseError } from './errors.ts'
import { choice, type FastGptAnswer, FIELDS, form, ONE_FIELD, readAnswer } from './interactive.ts'
import { type FastGptRun, fastGptScript } from './script.ts'

// `team` is an account's key, which requires an existing appId. `2026` selects the dialect of that year.
const KEYS = { app: 'fastgpt-sandbox', team: 'fastgpt-sandboxteam', '2026': 'fastgpt-sandbox2026' } as const
const APP_ID = '66e0a1b2c3d4e5f607182930'

const REAL = { name: 'FastGPT', platform: 'fastgpt', baseUrl: 'https://api.fastgpt.in/api' }

/** Emulates FastGPT: chat completions in v1 and v2, the stop call, chats and the probe. */
export function fastgpt(deps: EmulatorDeps): Emulator {
  const chats = new Conversations()

  async function complete(context: RequestContext, version: 'v1' | 'v2'): Promise<void> {
    const { headers, body, response } = context
    if (Number(headers['content-length']) > BODY_BYTES_MAX) throw new Refusal(TOO_LARGE)
    const stream = body.stream === true
    const refuse: Refuse = (error) => new Refusal(stream ? sseError(error) : jsonError(error))

    const key = admit(headers.authorization, body.appId, refuse)
    const { query, files, earlier: sent } = readMessages(body, refuse)
    const faults = parseFaults(query, 'FastGPT')
    if (faults.error) {
      // Rate limiter and schema validation run before the handler, so their errors are JSON even for a
      // stream.
      const early = faults.error === 'rate-limit' || faults.error === 'rejected'
      const error = fastGptErrors[faults.error]
      throw early ? new Refusal(jsonError(error)) : refuse(error)
    }

    const lines = await listFiles(files, response)
    const chat = openChat(body.chatId)
    const year = key === KEYS['2026'] ? 2026 : 2025
    // Checked last, because another run may have begun while the files were read.
    if (year === 2026 && deps.runs.inConversation(chat.id)) throw refuse(fastGptErrors.busy)

    const earlier = [...chat.questions, ...sent]
    const made = madeFiles(faults, context)
    const reply = composeReply({ real: REAL, faults, earlier, files: lines, isSilent: made.isAlone })
    const pause = takePause(chat)
    const answer = pause && readAnswer(pause, faults.question)
    const outcome = outcomeOf(faults, pause, answer)
    const asks = typeof outcome === 'object'
    const dataId = asText(body.responseChatItemId) || dataIdOf()
    // Checked since 2026.
    if (year === 2026 && !pause && chat.turns.some(({ id }) => id === dataId))
      throw refuse(known.dataIdExists)
    chat.questions.push(query)

    const script = fastGptScript(
      { version, year, detail: body.detail === true },
      {
        chatId: chat.id,
        query,
        isNew: earlier.length === 0,
        variables: asRecord(body.variables),
        promptTokens: reply.promptTokens,
        finish: reply.finish,
        outcome,
        files: outcome === 'answer' ? made.files : [],
      },
    )
    // FastGPT adds the rest of a reply to the message that asked, and stores no turn for the answer.
    const run = pause
      ? deps.runs.resume(pause.run, answer?.value)
      : deps.runs.begin({ id: randomUUID(), conversationId: chat.id, query })
    if (!pause) addTurn(chat, { id: dataId, questionId: dataIdOf(), query, files, answer: () => run.text })
    if (asks) {
      const again = faults.pause === 'twice'
      chat.pause = { run, asks: outcome.type === 'userSelect' ? 'choice' : 'fields', again }
    }
    return play(response, {
      run,
      script,
      fragments: outcome === 'answer' ? [...(answer ? describe(answer) : []), ...reply.fragments] : [],
      pauses: asks,
      faults,
      stream,
      serverError: refuse(fastGptErrors.server).answer,
      delayMs: deps.delayMs,
      endsWithClient: true,
    })
  }

  /** An unknown id creates the chat; a chat without an id is not kept. */
  function openChat(chatId: unknown): Conversation {
    const id = asText(chatId) || dataIdOf()
    if (typeof chatId !== 'string') return newConversation(id)
    return chats.find(id) ?? chats.create(id)
  }

  function stop({ path, body, headers }: RequestContext): Answer {
    admit(headers.authorization, body.appId, (error) => new Refusal(jsonError(error)))
    const run = deps.runs.inConversation(asText(body.chatId))
    deps.seen.stop({ runId: run?.id, path, body })
    run?.halt('stopped')
    return json(200, { code: 200, statusText: '', message: '', data: { success: true } })
  }

  return {
    basePath: '/api',
    apiKey: KEYS.app,
    keys: KEYS,
    appId: APP_ID,
    routes: {
      ...MADE_FILE_ROUTES,
      'POST /api/v1/chat/completions': (context) => complete(context, 'v1'),
      'POST /api/v2/chat/completions': (context) => complete(context, 'v2'),
      'POST /api/v2/chat/stop': stop,
      ...chatRoutes(
        chats,
        ({ headers }, appId) => {
          const key = admit(headers.authorization, appId, (error) => new Refusal(jsonError(error)))
          return key === KEYS['2026'] ? '2026' : '2025'
        },
        UNKNOWN_PATH,
      ),
      'GET /api/common/system/getInitData': () =>
        json(200, {
          code: 200,
          statusText: '',
          message: '',
          data: { feConfigs: { systemTitle: 'FastGPT' } },
        }),
    },
    notFound: UNKNOWN_PATH,
  }
}

const UNKNOWN_PATH = htmlPage(404, '404: This page could not be found')

function dataIdOf(): string {
  return randomUUID().replaceAll('-', '').slice(0, 24)
}

// The framework rejects such a body before FastGPT sees it.
const BODY_BYTES_MAX = 20 * 1024 * 1024
const TOO_LARGE = plainText(413, 'Body exceeded 20mb limit')

type Refuse = (error: FastGptError) => Refusal

/** A key has two parts; a third is an app's id, which older clients append. */
function admit(authorization: string | undefined, appId: unknown, refuse: Refuse): string {
  const [prefix, secret, legacyAppId, ...rest] = authorization?.split(' ')[1]?.split('-') ?? []
  if (prefix === undefined || secret === undefined || rest.length > 0) throw refuse(known.unAuthorization)
  const key = `${prefix}-${secret}`
  if (!Object.values<string>(KEYS).includes(key)) throw refuse(known.unAuthApiKey)
  const app = asText(appId) || legacyAppId
  if (key === KEYS.team && !app) throw refuse(known.accountKey)
  if (key === KEYS.team && app !== APP_ID) throw refuse(known.appIsEmpty)
  return key
}

interface Question {
  readonly query: string
  readonly files: readonly LinkedFile[]
}

function readMessages({ messages }: JsonRecord, refuse: Refuse): Question & { earlier: readonly string[] } {
  if (!Array.isArray(messages)) throw refuse(known.messagesIsNotArray)
  if (messages.length === 0) throw refuse(known.messagesIsEmpty)
  const questions = messages
    .map(asRecord)
    .filter(({ role }) => role === 'user')
    .map(({ content }) => readContent(content))
  const last = questions.at(-1)
  if (!last?.query && !last?.files.length) throw refuse(known.questionIsEmpty)
  return { ...last, earlier: questions.slice(0, -1).map(({ query }) => query) }
}

function readContent(content: unknown): Question {
  if (typeof content === 'string') return { query: content, files: [] }
  const parts = asList(content).map(asRecord)
  return {
    query: parts.map(({ text }) => asText(text)).join(''),
    files: parts.flatMap((part) => {
      if (part.type === 'image_url')
        return { url: asText(asRecord(part.image_url).url), name: '', mayBeData: true }
      return part.type === 'file_url' ? { url: asText(part.url), name: asText(part.name) } : []
    }),
  }
}

function outcomeOf(
  faults: Faults,
  answered: ConversationPause | undefined,
  answer: FastGptAnswer | undefined,
): FastGptRun['outcome'] {
  if (faults.pause === 'form') return form(FIELDS)
  if (faults.pause === 'text') return form(ONE_FIELD)
  if (faults.pause) return choice('请选择')
  if (answered?.again) return choice('请再次选择')
  if (answer?.fits === false) return 'skipped'
  return faults.has('sandbox:node-failed') ? 'node-failed' : 'answer'
}

function describe({ value }: FastGptAnswer): readonly string[] {
  const answer = typeof value === 'string' ? { chosen: value } : { fields: value }
  return splitFragments(describeAnswer('zh', answer))
}
