import { chatBody } from '../api.ts'
import type { ContractGateway, OperationRequest } from './contract-gateway.ts'
import { only, type Provocation } from './provocation.ts'

/** Status, reason, model (`<agent>` or `<agent>/<app>`) and query. Words with a colon are commands of the sandbox. */
export const FAULTS = [
  [400, 'agent_rejected_input', 'fastgpt/app', 'sandbox:error=rejected'],
  [400, 'content_filtered', 'openai', 'sandbox:error=filtered'],
  [404, 'app_not_found', 'apps/three', 'Hello'],
  [404, 'app_not_found', 'fastgpt/app', 'sandbox:error=app-not-found'],
  [404, 'conversation_not_found', 'fastgpt/app', 'sandbox:error=not-found'],
  [409, 'conversation_busy', 'fastgpt/app', 'sandbox:error=busy'],
  [429, 'agent_rate_limited', 'fastgpt/app', 'sandbox:error=rate-limit'],
  [502, 'agent_credentials', 'fastgpt/app', 'sandbox:error=credentials'],
  [502, 'agent_quota', 'fastgpt/app', 'sandbox:error=quota'],
  [502, 'agent_misconfigured', 'fastgpt/app', 'sandbox:error=misconfigured'],
  [502, 'agent_error', 'fastgpt/app', 'sandbox:html'],
  [502, 'agent_malformed', 'fastgpt/app', 'sandbox:malformed'],
  [502, 'agent_truncated', 'fastgpt/app', 'sandbox:truncate'],
  [502, 'agent_empty_reply', 'fastgpt/app', 'sandbox:empty'],
  [502, 'agent_requires_action', 'coze', 'sandbox:requires-action'],
  [502, 'agent_unreachable', 'gone/app', 'Hello'],
  [504, 'agent_timeout', 'hasty/app', 'sandbox:hang'],
] as const

export function chatRequest(
  gateway: ContractGateway,
  model = 'fastgpt/app',
  query = 'Hello',
): OperationRequest {
  const [agent = '', app = ''] = model.split('/')
  return {
    as: gateway.key.full_key,
    headers: { agent },
    body: chatBody({ app_id: app, chat_id: gateway.fresh(), query }),
  }
}

export function completionRequest(
  gateway: ContractGateway,
  model = 'fastgpt/app',
  content = 'Hello',
): OperationRequest {
  return { as: gateway.key.full_key, body: { model, messages: [{ role: 'user', content }] } }
}

export function responseRequest(
  gateway: ContractGateway,
  model = 'fastgpt/app',
  input: unknown = 'Hello',
): OperationRequest {
  return { as: gateway.key.full_key, body: { model, input } }
}

/** The beginning of a Windows program, which says of itself that it is a text. */
const PROGRAM_URL = `data:text/plain;base64,${Buffer.from([0x4d, 0x5a, 0, 0, 1, 2, 3]).toString('base64')}`

const NO_PAUSE = '00000000-0000-7000-8000-000000000000'

/** Statuses that the chat operations of all interfaces document. */
export const CHAT_PROVOCATIONS: readonly Provocation[] = [
  ...(
    [
      ['chat', chatRequest],
      ['createCompletion', completionRequest],
      ['createResponse', responseRequest],
    ] as const
  ).flatMap(([id, requestTo]) => [
    ...FAULTS.map(([status, reason, model, query]) =>
      only(id, status, reason, `"${query}" to ${model}`, (_good, gateway) =>
        requestTo(gateway, model, query),
      ),
    ),
    only(id, 409, 'pause_over', 'an answer to a question that nobody asked', (_good, gateway) => {
      const { body, ...request } = requestTo(gateway, 'fastgpt/app', 'Hello')
      return { ...request, body: { ...Object(body), answer: { pause: NO_PAUSE } } }
    }),
    only(id, 400, 'answer_required', 'an option that the question does not have', async (_good, gateway) => {
      const { body, ...request } = requestTo(gateway, 'fastgpt/app', 'sandbox:interactive')
      const asked = await gateway.send(id, { ...request, body })
      const answer = { pause: asked.body.pause.id, option: 'nothing' }
      return { ...request, body: { ...Object(body), ...(id === 'chat' && { chat_id: '' }), answer } }
    }),
    only(id, 401, 'api_key_required', 'an access token', (good, gateway) => ({ ...good, as: gateway.token })),
    only(id, 403, 'permission_denied', 'a key with the permission upload alone', async (good, gateway) => ({
      ...good,
      as: (await gateway.api.createKey(gateway.token, { permissions: ['upload'] })).full_key,
    })),
    only(id, 403, 'agent_denied', 'a key for another agent', async (good, gateway) => ({
      ...good,
      as: (await gateway.api.createKey(gateway.token, { allowed_agents: ['openai'] })).full_key,
    })),
    only(id, 429, 'rate_limited', "one call more than the key's limit", async (good, gateway) => {
      const key = await gateway.api.createKey(gateway.token, { limits: { chat_per_minute: 1 } })
      const again = { ...good, as: key.full_key }
      await gateway.send(id, again)
      return again
    }),
    only(id, 429, 'quota_exceeded', 'a user whose quota is 0', async (good, gateway) => {
      const user = await gateway.api.createUser(gateway.token, gateway.fresh(), { max_api_calls: 0 })
      return { ...good, as: (await gateway.api.createKey(gateway.token, { owner_id: user.id })).full_key }
    }),
  ]),
  only('chat', 200, undefined, 'a stream', (good) => ({
    ...good,
    body: chatBody({ stream: true, detail: true }),
  })),
  only('chat', 400, 'unknown_agent', 'an unknown agent', (_good, gateway) => chatRequest(gateway, 'nobody')),
  only('chat', 400, 'app_id_required', 'fastgpt without an app', (_good, gateway) =>
    chatRequest(gateway, 'fastgpt'),
  ),
  only('chat', 400, 'conversation_id_required', 'hiagent without a conversation', (_good, gateway) =>
    chatRequest(gateway, 'hiagent'),
  ),
  ...(
    [
      ['createCompletion', completionRequest],
      ['createResponse', responseRequest],
    ] as const
  ).flatMap(([id, requestTo]) => [
    only(id, 400, 'unknown_agent', 'an unknown agent', (good) => ({ ...good, headers: { agent: 'nobody' } })),
    only(id, 400, 'app_id_required', 'fastgpt without an app', (_good, gateway) =>
      requestTo(gateway, 'fastgpt'),
    ),
  ]),
  only('createCompletion', 415, 'file_type_not_accepted', 'a program as a data: URL', (_good, gateway) => {
    const file = { filename: 'a.txt', file_data: PROGRAM_URL }
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'file', file },
    ]
    return {
      ...completionRequest(gateway),
      body: { model: 'dify', messages: [{ role: 'user', content }] },
    }
  }),
  only('createResponse', 415, 'file_type_not_accepted', 'a program as a data: URL', (_good, gateway) => {
    const file = { type: 'input_file', filename: 'a.txt', file_data: PROGRAM_URL }
    const text = { type: 'input_text', text: 'Hello' }
    return responseRequest(gateway, 'dify', [{ role: 'user', content: [text, file] }])
  }),
  only('createCompletion', 200, undefined, 'a stream with its usage', (good) => ({
    ...good,
    body: { ...(good.body as object), stream: true, stream_options: { include_usage: true } },
  })),
  only('createCompletion', 404, 'model_not_found', 'an unknown model', (_good, gateway) =>
    completionRequest(gateway, 'nobody'),
  ),
  only('createResponse', 200, undefined, 'a stream', (good) => ({
    ...good,
    body: { ...(good.body as object), stream: true },
  })),
  only('createResponse', 404, 'model_not_found', 'an unknown model', (_good, gateway) =>
    responseRequest(gateway, 'nobody'),
  ),
  only('createResponse', 400, 'previous_response_not_found', 'a response that does not exist', (good) => ({
    ...good,
    body: { ...(good.body as object), previous_response_id: 'resp_01890a5d-ac96-774b-bcce-b302099a8057' },
  })),
]
