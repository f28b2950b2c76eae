import { composeReply, countTokens } from '../replies/compose-reply.ts'
import { describeAnswer } from '../replies/describe-answer.ts'
import { parseFaults } from '../replies/faults.ts'
import { splitFragments } from '../replies/fragments.ts'
import { languageOf } from '../replies/language.ts'
import { play, type Script } from '../replies/player.ts'
import { tightFrame } from '../replies/sse.ts'
import { type Answer, json } from '../serving/answer.ts'
import { addTurn, type Conversation, Conversations, takePause } from '../serving/conversations.ts'
import type { Emulator, EmulatorDeps } from '../serving/emulator.ts'
import type { RequestContext } from '../serving/http-server.ts'
import { listFiles } from '../serving/list-files.ts'
import { asList, asRecord, asText } from '../serving/narrow.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { BASE, failure, KEY, refusal, shortId, userOf } from './errors.ts'

const REAL = { name: 'HiAgent', platform: 'hiagent', baseUrl: 'https://hiagent.example.com' }

/** Emulates HiAgent's AppKey API, where a conversation must be created before the first question. */
export function hiagent(deps: EmulatorDeps): Emulator {
  const conversations = new Conversations()

  function createConversation(context: RequestContext): Answer {
    const userId = userOf(context)
    const { id } = conversations.create(shortId(), userId)
    return json(200, {
      Conversation: {
        AppConversationID: id,
        ConversationName: '新会话',
        CreateTime: new Date().toISOString().slice(0, 19).replace('T', ' '),
        LastChatTime: '',
        EmptyConversation: true,
      },
      BaseResp: null,
    })
  }

  async function chatQuery(context: RequestContext): Promise<void> {
    const { body, path, response } = context
    const userId = userOf(context)
    const query = asText(body.Query)
    if (!query) throw refusal(path, 'rejected')
    const conversation = conversations.find(asText(body.AppConversationID))
    if (conversation?.owner !== userId) throw refusal(path, 'not-found')
    const faults = parseFaults(query, 'HiAgent')
    if (faults.error) throw refusal(path, faults.error)

    const files = asList(asRecord(body.QueryExtends).Files).map(asRecord)
    const sent = files.map(({ Name, Url }) => ({ url: asText(Url), name: asText(Name) }))
    const lines = await listFiles(sent, response)
    const reply = composeReply({ real: REAL, faults, earlier: conversation.questions, files: lines })
    conversation.questions.push(query)
    const pause = takePause(conversation)
    // A text answers, whatever it is. That it continues the run of the question, under the same task, is an assumption: the
    // vendor's SDK shows only that the next query of the conversation is the answer.
    const run = pause
      ? deps.runs.resume(pause.run, faults.question)
      : deps.runs.begin({ id: shortId(), conversationId: conversation.id, query, owner: userId })
    const asks = faults.pause !== undefined || pause?.again === true
    if (asks) conversation.pause = { run, asks: 'choice', again: faults.pause === 'twice' }
    const ids = { task_id: run.id, id: shortId(), conversation_id: innerId(conversation) }
    if (!pause)
      addTurn(conversation, {
        id: ids.id,
        questionId: shortId(),
        query,
        files: sent,
        answer: () => run.text,
      })
    const said = pause ? describeAnswer(languageOf(faults.question), { said: faults.question }) : ''
    return play(response, {
      run,
      script: asks
        ? interruptedScript(ids, pause ? AGAIN : QUESTION, path)
        : hiagentScript(ids, reply.promptTokens, path),
      fragments: asks ? [] : [...splitFragments(said), ...reply.fragments],
      pauses: asks,
      faults,
      stream: body.ResponseMode === 'streaming',
      serverError: failure(path, 'server'),
      delayMs: deps.delayMs,
      // Only the API's stop call ends a run.
      endsWithClient: false,
    })
  }

  function stopMessage(context: RequestContext): Answer {
    const userId = userOf(context)
    const { body, path } = context
    const found = deps.runs.get(asText(body.TaskID))
    const mine = found?.owner === userId ? found : undefined
    deps.seen.stop({ runId: mine?.id, path, body })
    mine?.halt('stopped')
    return json(200, { BaseResp: null })
  }

  return {
    basePath: BASE,
    apiKey: KEY,
    keys: { app: KEY },
    routes: {
      [`POST ${BASE}/create_conversation`]: createConversation,
      [`POST ${BASE}/chat_query_v2`]: chatQuery,
      [`POST ${BASE}/stop_message`]: stopMessage,
      ...conversationRoutes(conversations),
      [`POST ${BASE}/get_app_config_preview`]: (context) => {
        userOf(context)
        return json(200, { Name: 'sandbox', VariableConfigs: null, BaseResp: null })
      },
    },
    notFound: json(404, { message: 'no Route matched with those values' }),
  }
}

interface ReplyIds {
  readonly task_id: string
  readonly id: string
  readonly conversation_id: string
}

const QUESTION = '请问要去哪个城市？ Which city?'
const AGAIN = '请问哪一天？ Which day?'

type Emit = (event: string, fields?: object) => string

function framesOf(ids: ReplyIds): Emit {
  return (event, fields = {}) => tightFrame(JSON.stringify({ event, ...ids, ...fields }), 'text')
}

/** A run that stops with a question, to which any text is an answer. */
function interruptedScript(ids: ReplyIds, question: string, path: string): Script {
  const emit = framesOf(ids)
  const interrupted = {
    created_at: Math.floor(Date.now() / 1_000),
    interrupted_msg: question,
    interrupted_type: 'ask',
  }
  return {
    ...common(emit, path),
    opening: () => emit('message_start'),
    fragment: () => '',
    closing: (_text, end) =>
      (end === 'finished' ? emit('interrupted', interrupted) : '') + emit('message_end'),
    blocking: () => json(200, { event: 'interrupted', ...ids, answer: '', ...interrupted }),
  }
}

function common(
  emit: Emit,
  path: string,
): Pick<Script, 'streamHeaders' | 'failure' | 'heartbeat' | 'blockingFailure'> {
  return {
    streamHeaders: { 'content-type': 'text/event-stream' },
    failure: () => emit('message_failed', { error: 'model timeout' }),
    heartbeat: () => ': ping\n\n',
    blockingFailure: () => failure(path, 'server'),
  }
}

function hiagentScript(ids: ReplyIds, promptTokens: number, path: string): Script {
  const createdAt = Math.floor(Date.now() / 1_000)
  const emit = framesOf(ids)
  const answerFrame = (event: string, answer: string) => emit(event, { answer, created_at: createdAt })

  return {
    ...common(emit, path),
    opening: () =>
      emit('message_start') +
      emit('think_message_output_start') +
      answerFrame('think_message', '先想一想，再回答。') +
      emit('think_message_output_end') +
      emit('message_output_start'),
    fragment: (text) => answerFrame('message', text),
    closing: (text) =>
      emit('message_output_end') +
      emit('message_cost', {
        input_tokens: promptTokens,
        output_tokens: countTokens(text),
        start_time_first_resp: createdAt * 1_000,
        latency_first_resp: 310,
        latency: 1.9,
      }) +
      emit('suggestion', { suggested_questions: ['还有吗？'] }) +
      emit('message_end', { agent_configuration: { retriever_resource: { enabled: false } } }),
    blocking(text) {
      const answer = json(200, {
        event: 'message',
        ...ids,
        answer: text,
        created_at: createdAt,
        think_messages: null,
        tool_messages: null,
      })
      // The real server appends a literal `null` to its bodies, which its SDK strips.
      return { ...answer, body: `${answer.body}null` }
    },
  }
}

/** Replies use a different conversation id than requests. */
function innerId({ id }: Conversation): string {
  return `inner-${id}`
}
