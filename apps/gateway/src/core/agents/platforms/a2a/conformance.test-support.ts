import type { Dialect } from '#test/agents/dialect.test-support.ts'

const A2A = {
  platform: 'a2a',
  key: 'app',
  app: () => ({}),
  appId: '',
  takesFiles: 'data',
  context: 'platform',
  isExclusive: false,
  hasStopCall: true,
  reportsUsage: false,
  cut: 'stop',
  details: ['other'],
  reasons: false,
  hasNodes: false,
  // The protocol has no errors of its own for these.
  refusals: {
    busy: 'agent_error',
    filtered: 'agent_error',
    'not-found': 'pause_over',
    'app-not-found': 'agent_misconfigured',
  },
  breaks: {},
  goesOn: ['truncate', 'reset'],
  retryAfter: '7',
  givesSeveralAnswers: true,
  replacesText: true,
  toolOutputWanted: 'agent_requires_action',
  takesAnyConversation: true,
} as const satisfies Partial<Dialect>

/** Paths are relative to the base URL, so that the agent can be reached through a proxy. */
function cardOf(path: string, protocolBinding: string, protocolVersion: string) {
  const supportedInterfaces = [{ url: path, protocolBinding, protocolVersion }]
  return { card: { supportedInterfaces, capabilities: { streaming: true } } }
}

function contextOf(message: unknown): unknown {
  return Object(message).contextId
}

export const DIALECTS: readonly Dialect[] = [
  {
    ...A2A,
    name: 'a2a-http',
    entry: cardOf('rest', 'HTTP+JSON', '1.0'),
    conversationOf: ({ body }) => contextOf(body.message),
    transcripts: /^a2a\/http-/,
  },
  {
    ...A2A,
    name: 'a2a-rpc',
    entry: cardOf('rpc', 'JSONRPC', '1.0'),
    conversationOf: ({ body }) => contextOf(Object(body.params).message),
    transcripts: /^a2a\/rpc-/,
  },
  {
    ...A2A,
    name: 'a2a-former',
    entry: cardOf('rpc', 'JSONRPC', '0.3'),
    conversationOf: ({ body }) => contextOf(Object(body.params).message),
    transcripts: /^a2a\/former-/,
  },
]
