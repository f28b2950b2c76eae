import type { Dialect } from '#test/agents/dialect.test-support.ts'

export const DIALECTS: readonly Dialect[] = [
  {
    platform: 'langgraph',
    name: 'langgraph',
    key: 'app',
    entry: {},
    app: () => ({ assistantId: 'agent' }),
    appId: '',
    takesFiles: 'data',
    context: 'client',
    conversationOf: ({ path }) => /^\/threads\/([^/]+)\//.exec(path)?.[1],
    isExclusive: true,
    hasStopCall: true,
    reportsUsage: true,
    cut: 'stop',
    details: ['node_finished'],
    reasons: false,
    hasNodes: false,
    refusals: {
      'not-found': 'agent_misconfigured',
      'app-not-found': 'agent_misconfigured',
      filtered: 'agent_error',
    },
    breaks: {},
    transcripts: /^langgraph\//,
    retryAfter: '7',
    replacesText: true,
    toolOutputWanted: 'agent_requires_action',
  },
]
