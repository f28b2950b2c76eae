import { randomUUID } from 'node:crypto'
import { composeReply } from '../replies/compose-reply.ts'
import { type Faults, parseFaults } from '../replies/faults.ts'
import { play, type Script } from '../replies/player.ts'
import { type Answer, json, Refusal } from '../serving/answer.ts'
import { type Conversation, Conversations } from '../serving/conversations.ts'
import type { Emulator, EmulatorDeps } from '../serving/emulator.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { listFiles } from '../serving/list-files.ts'
import { asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import { difyError, difyErrors, difyJson, missingField } from './errors.ts'
import { DifyFiles } from './files.ts'
import { type DifyRun, difyScript } from './script.ts'
import { difyChatflowScript, difyWorkflowScript } from './workflow-script.ts'

// A key identifies an app, and thereby its kind.
const KEYS = {
  chat: 'app-sandbox-chat',
  agent: 'app-sandbox-agent',
  newAgent: 'app-sandbox-new-agent',
  chatflow: 'app-sandbox-chatflow',
  chatflow2026: 'app-sandbox-chatflow-2026',
  completion: 'app-sandbox-completion',
  workflow: 'app-sandbox-workflow',
} as const

type Kind = keyof typeof KEYS
type Route = 'chat' | 'completion' | 'workflow'

const MODES: Readonly<Record<Kind, string>> = {
  chat: 'chat',
  agent: 'agent-chat',
  newAgent: 'agent',
  chatflow: 'advanced-chat',
  chatflow2026: 'advanced-chat',
  completion: 'completion',
  workflow: 'workflow',
}

const REAL = { name: 'Dify', platform: 'dify', baseUrl: 'https://api.dify.ai/v1' }

/** Emulates Dify's service API with one app of each kind, selected by the key. */
export function dify(deps: EmulatorDeps): Emulator {
  const conversations = new Conversations()
  const files = new DifyFiles()

  async function run(context: RequestContext, route: Route): Promise<void> {
    const { body, response } = context
    const kind = appOf(context)
    checkRoute(kind, route)
    const { query, user, stream } = readRequest(kind, route, body)
    const faults = parseFaults(query)
    if (faults.has('sandbox:forget-files')) files.forget()
    const sent = files.find(body.files, endUser(kind, user))
    const conversation = route === 'chat' ? openConversation(body.conversation_id, user) : undefined
    if (faults.error) throw new Refusal(difyErrors[faults.error])
    const lines = await listFiles(sent, response)

    const earlier = conversation?.questions.slice() ?? []
    const reply = composeReply({ real: REAL, faults, earlier, files: lines })
    conversation?.questions.push(query)
    const difyRun: DifyRun = {
      taskId: randomUUID(),
      messageId: randomUUID(),
      ...(conversation && { conversationId: conversation.id }),
      createdAt: Math.floor(Date.now() / 1_000),
      query,
      user,
      turn: earlier.length + 1,
      promptTokens: reply.promptTokens,
      finish: reply.finish,
      replacement: faults.has('sandbox:replace')
        ? '抱歉，我不能回答。Sorry, I cannot answer that.'
        : undefined,
    }
    return play(response, {
      run: deps.runs.begin({
        id: difyRun.taskId,
        conversationId: conversation?.id ?? '',
        query,
        owner: user,
      }),
      script: scriptOf(kind, difyRun, faults),
      fragments: nodeFails(kind, faults) ? [] : reply.fragments,
      faults,
      stream,
      serverError: difyErrors.server,
      delayMs: deps.delayMs,
      // Dify runs in a separate thread, which closing the connection does not stop.
      endsWithClient: false,
    })
  }

  function openConversation(id: unknown, user: string): Conversation {
    if (id === undefined || id === null) return conversations.create(randomUUID(), user)
    const conversation = conversations.find(checkUuid(asText(id)))
    if (conversation?.owner !== user) throw new Refusal(difyErrors['not-found'])
    return conversation
  }

  /** Always reports success, even for an unknown task or another user's, which continues. */
  function stop(context: RequestContext): Answer {
    appOf(context)
    const { params, path, body } = context
    if (!asText(body.user)) throw new Refusal(USER_MISSING)
    const found = deps.runs.get(params.task ?? '')
    const mine = found?.owner === body.user ? found : undefined
    deps.seen.stop({ runId: mine?.id, path, body })
    mine?.halt('stopped')
    return difyJson(200, { result: 'success' })
  }

  return {
    basePath: '/v1',
    apiKey: KEYS.chat,
    keys: KEYS,
    routes: {
      'POST /v1/chat-messages': (context) => run(context, 'chat'),
      'POST /v1/completion-messages': (context) => run(context, 'completion'),
      'POST /v1/workflows/run': (context) => run(context, 'workflow'),
      'POST /v1/chat-messages/:task/stop': stop,
      'POST /v1/completion-messages/:task/stop': stop,
      'POST /v1/workflows/tasks/:task/stop': stop,
      'POST /v1/files/upload': (context) => {
        const { body } = context
        const kind = appOf(context)
        if (!asText(body.user)) throw new Refusal(USER_MISSING)
        return files.upload(body, endUser(kind, asText(body.user)))
      },
      'GET /v1/info': (context) => difyJson(200, info(appOf(context))),
      'GET /v1/parameters': (context) => {
        appOf(context)
        return difyJson(200, PARAMETERS)
      },
      'GET /health': () => json(200, { status: 'ok', version: '1.9.1' }),
    },
    notFound: difyError(
      404,
      'not_found',
      'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
    ),
  }
}

/** Users of the same name are different users in different apps. */
function endUser(kind: Kind, user: string): string {
  return `${kind} ${user}`
}

const USER_MISSING = difyError(400, 'invalid_param', 'Arg user must be provided.')

function appOf({ headers }: RequestContext): Kind {
  const [scheme, key] = headers.authorization?.split(' ') ?? []
  const app = Object.entries(KEYS).find(([, known]) => known === key)
  if (scheme?.toLowerCase() !== 'bearer' || !app) throw new Refusal(difyErrors.credentials)
  return app[0] as Kind
}

function checkRoute(kind: Kind, route: Route): void {
  const own = kind === 'completion' || kind === 'workflow' ? kind : 'chat'
  if (own === route) return
  throw new Refusal(
    difyError(400, `not_${route}_app`, 'Please check if your app mode matches the right API route.'),
  )
}

interface DifyRequest {
  readonly query: string
  readonly user: string
  readonly stream: boolean
}

function readRequest(kind: Kind, route: Route, body: JsonRecord): DifyRequest {
  const inputs = asRecord(body.inputs)
  if (inputs !== body.inputs) throw new Refusal(missingField('inputs'))
  const query = asText(route === 'chat' ? body.query : inputs.query)
  if (!query) {
    throw new Refusal(
      route === 'chat'
        ? missingField('query')
        : difyError(400, 'invalid_param', 'query is required in input form'),
    )
  }
  const user = asText(body.user)
  if (!user) throw new Refusal(USER_MISSING)
  const stream = body.response_mode === 'streaming'
  if (!stream && (kind === 'agent' || kind === 'newAgent')) {
    throw new Refusal(
      kind === 'agent'
        ? difyError(400, 'invalid_param', 'Agent Chat App does not support blocking mode')
        : difyError(400, 'bad_request', 'Agent app does not support blocking mode.'),
    )
  }
  return { query, user, stream }
}

/** Rejects an empty id as release 1.11.0 does, which is the strictest. */
function checkUuid(id: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id
  if (id) {
    const message = `${id} is not a valid uuid.`
    throw new Refusal(difyJson(400, { code: 'invalid_param', message, params: 'conversation_id' }))
  }
  throw new Refusal(
    difyError(
      400,
      'invalid_param',
      "1 validation error for ChatRequestPayload\nconversation_id\n  Input should be a valid UUID, invalid length: expected length 32 for simple format, found 0 [type=uuid_parsing, input_value='', input_type=str]",
    ),
  )
}

function scriptOf(kind: Kind, run: DifyRun, faults: Faults): Script {
  const fails = nodeFails(kind, faults)
  switch (kind) {
    case 'chatflow':
      return difyChatflowScript(run, 2025, fails)
    case 'chatflow2026':
      return difyChatflowScript(run, 2026, fails)
    case 'workflow':
      return difyWorkflowScript(run, fails)
    case 'agent':
      return difyScript('agent-chat', run)
    case 'newAgent':
      return difyScript('agent', run)
    case 'chat':
    case 'completion':
      return difyScript(kind, run)
  }
}

function nodeFails(kind: Kind, faults: Faults): boolean {
  return faults.has('sandbox:node-failed') && ['chatflow', 'chatflow2026', 'workflow'].includes(kind)
}

function info(kind: Kind) {
  return { name: '客服', description: '', tags: [], mode: MODES[kind], author_name: 'Dify' }
}

const PARAMETERS = {
  opening_statement: '',
  suggested_questions: [],
  user_input_form: [],
  file_upload: { enabled: true, number_limits: 3, allowed_file_upload_methods: ['local_file', 'remote_url'] },
  system_parameters: {
    file_size_limit: 15,
    image_file_size_limit: 10,
    audio_file_size_limit: 50,
    video_file_size_limit: 100,
  },
}
