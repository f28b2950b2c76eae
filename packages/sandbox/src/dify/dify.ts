import { randomUUID } from 'node:crypto'
import { composeReply } from '../replies/compose-reply.ts'
import { type Faults, parseFaults } from '../replies/faults.ts'
import { MADE_FILE_ROUTES, madeFiles } from '../replies/made-files.ts'
import { type Playback, play, type Script } from '../replies/player.ts'
import { type Answer, json, Refusal } from '../serving/answer.ts'
import { type Conversation, Conversations } from '../serving/conversations.ts'
import type { Emulator, EmulatorDeps } from '../serving/emulator.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { listFiles } from '../serving/list-files.ts'
import { asRecord, asText, type JsonRecord } from '../serving/narrow.ts'
import type { Run } from '../serving/runs.ts'
import {
  appOf,
  checkRoute,
  checkUuid,
  emulatorOf,
  endUser,
  KEYS,
  type Kind,
  MODES,
  type Route,
  USER_MISSING,
} from './apps.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { difyError, difyErrors, difyJson, missingField } from './errors.ts'
import { DifyFiles } from './files.ts'
import { FlowRun, FlowRuns } from './flow-runs.ts'
import { formsOf } from './human-input.ts'
import { humanInputRoutes } from './human-input-routes.ts'
import { DifyMessages } from './messages.ts'
import { type DifyRun, difyScript } from './script.ts'
import { difyChatflowScript, difyWorkflowScript, endedRun, type FlowPart } from './workflow-script.ts'

const REAL = { name: 'Dify', platform: 'dify', baseUrl: 'https://api.dify.ai/v1' }

/** Emulates Dify's service API with one app of each kind, selected by the key. */
export function dify(deps: EmulatorDeps): Emulator {
  const conversations = new Conversations()
  const files = new DifyFiles()
  const messages = new DifyMessages()
  const flows = new FlowRuns()

  async function run(context: RequestContext, route: Route): Promise<void> {
    const { body, response } = context
    const kind = appOf(context)
    checkRoute(kind, route)
    const { query, user, stream } = readRequest(kind, route, body)
    const faults = parseFaults(query, emulatorOf(kind))
    if (faults.has('sandbox:forget-files')) files.forget()
    const sent = files.find(body.files, endUser(kind, user))
    const conversation = route === 'chat' ? openConversation(body.conversation_id, user) : undefined
    if (faults.error) throw new Refusal(difyErrors[faults.error])
    const lines = await listFiles(sent, response)

    const earlier = conversation?.questions.slice() ?? []
    const made = madeFiles(faults, context)
    const reply = composeReply({ real: REAL, faults, earlier, files: lines, isSilent: made.isAlone })
    conversation?.questions.push(query)
    const difyRun: DifyRun = {
      taskId: randomUUID(),
      messageId: randomUUID(),
      ...(conversation && { conversationId: conversation.id }),
      workflowRunId: randomUUID(),
      createdAt: Math.floor(Date.now() / 1_000),
      query,
      user,
      turn: earlier.length + 1,
      promptTokens: reply.promptTokens,
      finish: reply.finish,
      made,
      replacement: faults.has('sandbox:replace')
        ? '抱歉，我不能回答。Sorry, I cannot answer that.'
        : undefined,
    }
    const run = deps.runs.begin({
      id: difyRun.taskId,
      conversationId: conversation?.id ?? '',
      query,
      owner: user,
    })
    if (route !== 'workflow') messages.add(conversation, difyRun, run, sent)
    const fragments = faults.has('sandbox:node-failed') ? [] : reply.fragments
    const playback = { run, faults, stream, serverError: difyErrors.server, delayMs: deps.delayMs }
    const flow = openFlow(kind, difyRun, fragments, playback)
    return play(response, {
      ...playback,
      script: flow ? flow.details.script(flow.firstPart) : scriptOf(kind, difyRun, faults),
      fragments: flow ? [] : fragments,
      pauses: flow !== undefined,
      // Dify runs in a separate thread, which closing the connection does not stop.
      endsWithClient: false,
    })
  }

  /** Keeps what a run needs to go on after its pause. */
  function openFlow(
    kind: Kind,
    ids: DifyRun,
    fragments: readonly string[],
    playback: Pick<Playback, 'run' | 'faults' | 'serverError' | 'delayMs'>,
  ): FlowRun | undefined {
    const { run, faults } = playback
    if (!faults.pause) return undefined
    const details = {
      kind,
      user: ids.user,
      workflowRunId: ids.workflowRunId,
      pauses: formsOf(faults.pause, faults.question, ids.createdAt),
      faults,
      fragments,
      playback,
      script: (part: FlowPart) => scriptOf(kind, ids, faults, part),
      finished: ({ state, text }: Run) => {
        const failed = faults.has('sandbox:node-failed') || faults.has('sandbox:error-midstream')
        return endedRun(ids, text, state === 'stopped' ? 'stopped' : failed ? 'failed' : 'succeeded')
      },
    }
    const flow = new FlowRun(details, run, deps.runs)
    flows.add(flow)
    return flow
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
    const task = params.task ?? ''
    const paused = flows.findByTask(task)
    const found = deps.runs.get(task) ?? (paused?.run.state === 'paused' ? paused.run : undefined)
    const mine = found?.owner === body.user ? found : undefined
    deps.seen.stop({ runId: mine?.id, path, body })
    if (mine?.state === 'paused') paused?.stop()
    else mine?.halt('stopped')
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
      ...humanInputRoutes(flows, files),
      ...MADE_FILE_ROUTES,
      ...conversationRoutes(conversations, messages),
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

function scriptOf(kind: Kind, run: DifyRun, faults: Faults, part?: FlowPart): Script {
  const fails = faults.has('sandbox:node-failed')
  switch (kind) {
    case 'chatflow':
      return difyChatflowScript(run, part ? 2026 : 2025, fails, part)
    case 'chatflow2026':
      return difyChatflowScript(run, 2026, fails, part)
    case 'workflow':
      return difyWorkflowScript(run, fails, part)
    case 'agent':
      return difyScript('agent-chat', run)
    case 'newAgent':
      return difyScript('agent', run)
    case 'chat':
    case 'completion':
      return difyScript(kind, run)
  }
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
