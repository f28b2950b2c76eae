import { composeReply } from '../replies/compose-reply.ts'
import { type ErrorKind, type Faults, parseFaults } from '../replies/faults.ts'
import { MADE_FILE_ROUTES, madeFiles } from '../replies/made-files.ts'
import { generate, play } from '../replies/player.ts'
import { type Answer, json, Refusal } from '../serving/answer.ts'
import { addTurn, type Conversation, Conversations } from '../serving/conversations.ts'
import type { Emulator, EmulatorDeps } from '../serving/emulator.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { listFiles } from '../serving/list-files.ts'
import { asList, asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { type CozeDialect, cozeData, cozeErrors, cozeRefusal } from './errors.ts'
import { CozeFiles } from './files.ts'
import { dialectOf, KEYS } from './keys.ts'
import { type CozeChat, cozeChatData, cozeMessages, cozeScript } from './script.ts'
import { snowflake } from './snowflake.ts'

const BOT_ID = '7379462189365198898'
const UNPUBLISHED_BOT_ID = '7379462189365198899'
const REAL = { name: 'Coze', platform: 'coze', baseUrl: 'https://api.coze.cn' }

const CHATS_MAX = 1_000

/** Emulates Coze's chats, conversations and files, both of coze.com and of the self-hosted coze-studio. */
export function coze(deps: EmulatorDeps): Emulator {
  const conversations = new Conversations()
  const files = new CozeFiles()
  const chats = new Map<string, CozeChat>()

  async function chat(context: RequestContext): Promise<Answer | undefined> {
    const { headers, query: search, body, response } = context
    const dialect = dialectOf(headers.authorization)
    const stream = typeof body.stream === 'boolean' ? body.stream : dialect === 'studio'
    const botId = asText(body.bot_id)
    const userId = asText(body.user_id)
    if (!botId || !userId) throw refusal(dialect, 'rejected')
    checkBot(dialect, botId)
    const { text, items, earlier: sent } = readMessages(dialect, body.additional_messages)
    const faults = parseFaults(text, 'Coze')
    if (faults.has('sandbox:forget-files')) files.forget()
    const attached = files.find(items, dialect)
    const conversation = openConversation(dialect, search.get('conversation_id'), userId)
    if (faults.error) throw refusal(dialect, faults.error)
    const lines = await listFiles(attached, response)
    // Checked last, because another chat may have begun while the files were read.
    if (deps.runs.inConversation(conversation.id)) throw refusal(dialect, 'busy')

    const earlier = [...conversation.questions, ...sent]
    const made = madeFiles(faults, context)
    const reply = composeReply({ real: REAL, faults, earlier, files: lines, isSilent: made.isAlone })
    conversation.questions.push(text)
    const end = endOf(faults)
    const fragments = end === 'requires_action' ? [] : reply.fragments
    const run = deps.runs.begin({ id: snowflake(), conversationId: conversation.id, query: text })
    const record: CozeChat = {
      dialect,
      run,
      botId,
      createdAt: Math.floor(Date.now() / 1_000),
      promptTokens: reply.promptTokens,
      fragments,
      answers: shareOut(fragments.length, faults),
      files: made.files.length > 0 ? { id: snowflake(), files: made.files } : undefined,
      end,
    }
    remember(record)
    addTurn(conversation, {
      id: run.id,
      questionId: snowflake(),
      query: text,
      files: attached,
      answer: () => run.text,
    })
    if (!stream) {
      void generate({ run, fragments, faults, delayMs: deps.delayMs })
      return cozeData(cozeChatData(record))
    }
    const script = cozeScript(record)
    // A chat continues on the server when its connection closes.
    await play(response, {
      run,
      script,
      fragments,
      faults,
      stream,
      serverError: cozeRefusal(dialect, cozeErrors[dialect].server),
      delayMs: deps.delayMs,
      endsWithClient: false,
    })
    return undefined
  }

  /** A conversation belongs to the first user who chats in it. */
  function openConversation(dialect: CozeDialect, id: string | null, userId: string): Conversation {
    const conversation = id ? conversations.find(id) : undefined
    if (conversation && (conversation.owner ?? userId) === userId) {
      conversation.owner = userId
      return conversation
    }
    // coze-studio silently creates a new conversation instead.
    if (id && dialect === 'cloud') throw refusal(dialect, 'not-found')
    return conversations.create(snowflake(), userId)
  }

  function remember(record: CozeChat): void {
    chats.set(record.run.id, record)
    const oldest = chats.keys().next()
    if (chats.size > CHATS_MAX && !oldest.done) chats.delete(oldest.value)
  }

  function findChat(dialect: CozeDialect, chatId: string, conversationId: string): CozeChat {
    const record = chats.get(chatId)
    if (record?.run.conversationId === conversationId) return record
    throw new Refusal(cozeRefusal(dialect, NO_CHAT[dialect]))
  }

  function pollChat({ headers, query }: RequestContext): CozeChat {
    const dialect = dialectOf(headers.authorization)
    return findChat(dialect, query.get('chat_id') ?? '', query.get('conversation_id') ?? '')
  }

  /** Changes the chat's state only; an open stream continues to its end. */
  function cancel({ headers, path, body }: RequestContext): Answer {
    const dialect = dialectOf(headers.authorization)
    const record = findChat(dialect, asText(body.chat_id), asText(body.conversation_id))
    const run = deps.runs.get(record.run.id)
    const running = run?.state === 'running' ? run : undefined
    deps.seen.stop({ runId: running?.id, path, body })
    if (!running) throw new Refusal(cozeRefusal(dialect, NOT_CANCELABLE[dialect]))
    running.settle('stopped')
    return cozeData({ ...cozeChatData(record), last_error: null })
  }

  function createConversation({ headers, body }: RequestContext): Answer {
    dialectOf(headers.authorization)
    return cozeData(conversationObject(conversations.create(snowflake()), asRecord(body.meta_data)))
  }

  function retrieveConversation({ headers, query }: RequestContext): Answer {
    const dialect = dialectOf(headers.authorization)
    const conversation = conversations.find(query.get('conversation_id') ?? '')
    if (!conversation) throw refusal(dialect, 'not-found')
    return cozeData(conversationObject(conversation, {}))
  }

  function upload({ headers, body }: RequestContext): Answer {
    return files.upload(body, dialectOf(headers.authorization))
  }

  function bot(context: RequestContext, id: string): Answer {
    checkBot(dialectOf(context.headers.authorization), id)
    return cozeData({ bot_id: id, name: 'sandbox', description: '', icon_url: '', version: '1718609571' })
  }

  return {
    basePath: '',
    apiKey: KEYS.cloud,
    keys: KEYS,
    appId: BOT_ID,
    options: { botId: BOT_ID },
    routes: {
      ...MADE_FILE_ROUTES,
      'POST /v3/chat': chat,
      'GET /v3/chat/retrieve': (context) => cozeData(cozeChatData(pollChat(context))),
      'GET /v3/chat/message/list': (context) => cozeData(cozeMessages(pollChat(context))),
      'POST /v3/chat/cancel': cancel,
      ...conversationRoutes(conversations, chats),
      'POST /v1/conversation/create': createConversation,
      'GET /v1/conversation/retrieve': retrieveConversation,
      'POST /v1/files/upload': upload,
      'GET /v1/users/me': ({ headers }) => {
        dialectOf(headers.authorization)
        return cozeData({
          user_id: '2175268956150000',
          user_name: 'sandbox',
          nick_name: 'sandbox',
          avatar_url: '',
        })
      },
      'GET /v1/bots/:id': (context) => bot(context, context.params.id ?? ''),
      'GET /v1/bot/get_online_info': (context) => bot(context, context.query.get('bot_id') ?? ''),
    },
    notFound: json(404, { code: 404, msg: 'page not found' }),
  }
}

interface Question {
  readonly text: string
  /** The files, each by URL or by id. */
  readonly items: readonly JsonRecord[]
}

function readMessages(dialect: CozeDialect, messages: unknown): Question & { earlier: readonly string[] } {
  const questions = asList(messages)
    .map(asRecord)
    .filter(({ role }) => role === 'user')
    .map(({ content, content_type }) =>
      content_type === 'object_string'
        ? readObjects(dialect, asText(content))
        : { text: asText(content), items: [] },
    )
  const last = questions.at(-1)
  if (!last || (!last.text && last.items.length === 0)) throw refusal(dialect, 'rejected')
  return { ...last, earlier: questions.slice(0, -1).map(({ text }) => text) }
}

/** Reads a JSON list in a string, which contains at most one text, and never a text alone. */
function readObjects(dialect: CozeDialect, content: string): Question {
  const all = parseList(content).map(asRecord)
  const texts = all.filter(({ type }) => type === 'text')
  const items = all.filter(({ type }) => type !== 'text')
  if (texts.length > 1 || items.length === 0) throw refusal(dialect, 'rejected')
  return { text: asText(texts[0]?.text), items }
}

const NO_CHAT = {
  cloud: { code: 4001, msg: 'The chat does not exist.' },
  studio: { code: 103200003, msg: 'code=103200003 message=record not found' },
}

const NOT_CANCELABLE = {
  cloud: { code: 4104, msg: 'The current chat cannot be cancelled.' },
  studio: { code: 103200005, msg: 'code=103200005 message=in progress can not be cancelled' },
}

function refusal(dialect: CozeDialect, kind: ErrorKind): Refusal {
  return new Refusal(cozeRefusal(dialect, cozeErrors[dialect][kind]))
}

/** Only one decimal id exists. Any other name is accepted, so that a first try works with any `app_id`. */
function checkBot(dialect: CozeDialect, id: string): void {
  if (id === UNPUBLISHED_BOT_ID) throw refusal(dialect, 'misconfigured')
  if (id !== BOT_ID && /^\d+$/.test(id)) throw refusal(dialect, 'app-not-found')
}

function endOf(faults: Faults): CozeChat['end'] {
  if (faults.has('sandbox:error-midstream') || faults.has('sandbox:error-first')) return 'failed'
  return faults.has('sandbox:requires-action') ? 'requires_action' : 'completed'
}

function shareOut(fragments: number, faults: Faults): CozeChat['answers'] {
  const first = { id: snowflake(), from: 0 }
  if (!faults.has('sandbox:multi') || fragments < 2) return [first]
  return [first, { id: snowflake(), from: fragments >> 1 }]
}

function conversationObject({ id }: Conversation, metaData: object) {
  return { id, created_at: Math.floor(Date.now() / 1_000), meta_data: metaData, last_section_id: id }
}

function parseList(content: string): readonly unknown[] {
  try {
    return asList(JSON.parse(content))
  } catch {
    return []
  }
}
