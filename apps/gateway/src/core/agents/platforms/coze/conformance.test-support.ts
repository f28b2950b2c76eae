import type { Dialect } from '#test/agents/dialect.test-support.ts'

const COZE = {
  platform: 'coze',
  key: 'cloud',
  entry: {},
  app: () => ({ botId: '7379462189365198898' }),
  appId: '7379462189365198898',
  takesFiles: 'uploads',
  context: 'platform',
  conversationOf: ({ query }) => query.conversation_id,
  isExclusive: true,
  hasStopCall: true,
  reportsUsage: true,
  cut: 'stop',
  details: ['other'],
  reasons: false,
  hasNodes: false,
  refusals: {},
  breaks: {},
  givesSeveralAnswers: true,
  toolOutputWanted: 'agent_requires_action',
} as const satisfies Partial<Dialect>

export const DIALECTS: readonly Dialect[] = [
  { ...COZE, name: 'coze', transcripts: /^coze\/(?!studio)/ },
  {
    ...COZE,
    name: 'coze-studio',
    key: 'studio',
    // coze-studio does not forward this state, so the stream ends normally without text.
    toolOutputWanted: 'agent_empty_reply',
    details: [],
    // coze-studio has no limits, balance or moderation and reports these as a general error.
    refusals: {
      quota: 'agent_error',
      'rate-limit': 'agent_error',
      busy: 'agent_error',
      filtered: 'agent_error',
    },
    transcripts: /^coze\/studio/,
  },
]
