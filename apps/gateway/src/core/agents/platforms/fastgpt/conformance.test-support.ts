import type { Dialect } from '#test/agents/dialect.test-support.ts'

const FASTGPT = {
  platform: 'fastgpt',
  key: 'app',
  entry: {},
  app: () => ({}),
  appId: '66e0a1b2c3d4e5f607182930',
  takesFiles: 'URLs',
  context: 'client',
  conversationOf: ({ body }) => body.chatId,
  isExclusive: false,
  hasStopCall: true,
  reportsUsage: true,
  cut: 'length',
  details: ['node_started', 'node_finished'],
  reasons: false,
  hasNodes: true,
  refusals: {},
  breaks: {},
  retryAfter: '23',
  showsNodeData: true,
  pauses: true,
} as const satisfies Partial<Dialect>

export const DIALECTS: readonly Dialect[] = [
  { ...FASTGPT, name: 'fastgpt', transcripts: /^(?:fastgpt\/(?!.*(?:2026|-v2))|generic\/)/ },
  {
    ...FASTGPT,
    name: 'fastgpt-2026',
    key: '2026',
    isExclusive: true,
    transcripts: /^fastgpt\/.*2026/,
  },
  {
    ...FASTGPT,
    name: 'fastgpt-v2',
    details: ['node_started', 'node_finished', 'other'],
    transcripts: /^fastgpt\/.*-v2/,
    rewrite: ['/api/v1/chat/completions', '/api/v2/chat/completions'],
  },
]
