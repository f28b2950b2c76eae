import { type Call, PACE } from './workload.ts'

/** The same data by REST and by GraphQL. */
export interface Twins {
  readonly name: string
  readonly rest: Call
  readonly graphql: Call
}

const METRICS =
  'calls failedCalls promptTokens completionTokens totalTokens tokenCoverage firstChunkMs { p50 p95 p99 } durationMs { p50 p95 p99 }'

export const TWINS: readonly Twins[] = [
  {
    name: '`me` with its quota',
    rest: get('/api/v1/users/me'),
    graphql: query(
      '{ me { id username role status createdAt updatedAt lastLogin apiCallsCount maxApiCalls quotaPeriod } }',
    ),
  },
  {
    name: 'usage of 30 days',
    rest: get('/api/v1/usage'),
    graphql: query(`{ usage { from to timezone totals { ${METRICS} } points { start ${METRICS} } } }`),
  },
  {
    name: 'usage of 30 days by four agents',
    rest: get('/api/v1/usage?group_by=agent'),
    graphql: query(
      `{ usage(groupBy: [AGENT]) { from to timezone totals { ${METRICS} }
        groups { agentId totals { ${METRICS} } points { start ${METRICS} } } } }`,
    ),
  },
  {
    name: 'the same, the calls and tokens for a chart',
    rest: get('/api/v1/usage?group_by=agent'),
    graphql: query('{ usage(groupBy: [AGENT]) { groups { agentId points { start calls totalTokens } } } }'),
  },
]

export const USAGE_UPDATED: Call = query(
  `subscription { usageUpdated { day totals { ${METRICS} } quota { remaining resetsAt } } }`,
)

const CHAT = {
  app_id: '',
  chat_id: '',
  stream: true,
  detail: false,
  query: PACE,
  conversation_id: '',
  files: [],
}

/** A reply that goes on at the pace of a model. */
export const PACED_CHAT: Omit<Twins, 'name'> = {
  rest: { path: '/api/v1/chat', body: JSON.stringify(CHAT), ending: '' },
  graphql: query(
    `subscription ($input: ChatInput!) { chat(input: $input) {
      ... on ChatStarted { callId conversationId }
      ... on ChatText { text }
      ... on ChatFinished { finishReason usage { totalTokens } }
    } }`,
    { input: { agentId: 'bench', query: PACE } },
  ),
}

function get(path: string): Call {
  return { method: 'GET', path, body: '', ending: '}' }
}

function query(text: string, variables = {}): Call {
  return { path: '/graphql', body: JSON.stringify({ query: text, variables }), ending: '}' }
}
