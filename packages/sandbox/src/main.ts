import { parseArgs } from 'node:util'
import { type SandboxAgent, type SandboxPlatform, startSandbox } from './sandbox.ts'

const DEFAULT_PORTS: Readonly<Record<SandboxPlatform, string>> = {
  fastgpt: '8101',
  hiagent: '8102',
  dify: '8103',
  coze: '8104',
  openai: '8105',
}

const { values } = parseArgs({
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    delay: { type: 'string', default: '15' },
    fastgpt: { type: 'string', default: DEFAULT_PORTS.fastgpt },
    hiagent: { type: 'string', default: DEFAULT_PORTS.hiagent },
    dify: { type: 'string', default: DEFAULT_PORTS.dify },
    coze: { type: 'string', default: DEFAULT_PORTS.coze },
    openai: { type: 'string', default: DEFAULT_PORTS.openai },
  },
})

const sandbox = await startSandbox({
  host: values.host,
  delayMs: Number(values.delay),
  ports: {
    fastgpt: Number(values.fastgpt),
    hiagent: Number(values.hiagent),
    dify: Number(values.dify),
    coze: Number(values.coze),
    openai: Number(values.openai),
  },
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void sandbox.close())

console.table(
  Object.fromEntries(
    Object.entries(sandbox.agents).map(([platform, { baseUrl, apiKey, appId = '' }]) => [
      platform,
      { baseUrl, apiKey, appId },
    ]),
  ),
)
const { fastgpt, hiagent, dify, coze, openai } = sandbox.agents
console.log(
  [
    curl(fastgpt, '/v1/chat/completions', {
      chatId: 'a-chat',
      stream: true,
      messages: [{ role: 'user', content: 'What is a gateway?' }],
    }),
    `# HiAgent requires a conversation: send its AppConversationID with a chat_query_v2 request.`,
    curl(hiagent, '/create_conversation', { AppKey: hiagent.apiKey, UserID: 'ada', Inputs: {} }, 'Apikey: '),
    curl(dify, '/chat-messages', {
      inputs: {},
      query: 'What is a gateway?',
      user: 'ada',
      response_mode: 'streaming',
    }),
    curl(coze, '/v3/chat', {
      bot_id: coze.appId,
      user_id: 'ada',
      stream: true,
      additional_messages: [{ role: 'user', content: 'What is a gateway?', content_type: 'text' }],
    }),
    curl(openai, '/chat/completions', {
      model: openai.appId,
      stream: true,
      messages: [{ role: 'user', content: 'What is a gateway?' }],
    }),
  ].join('\n\n'),
)

function curl(
  { baseUrl, apiKey }: SandboxAgent,
  path: string,
  body: object,
  credential = 'Authorization: Bearer ',
) {
  return `curl -N ${baseUrl}${path} -H 'Content-Type: application/json' -H '${credential}${apiKey}' -d '${JSON.stringify(body)}'`
}
