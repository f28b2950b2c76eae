import type { Dialect } from '#test/agents/dialect.test-support.ts'

const HIAGENT = {
  platform: 'hiagent',
  key: 'app',
  entry: {},
  app: (apiKey: string) => ({ apiKey }),
  appId: '',
  takesFiles: 'URLs',
  context: 'platform',
  conversationOf: ({ body }) => body.AppConversationID,
  isExclusive: false,
  hasStopCall: true,
  reportsUsage: true,
  cut: 'stop',
  details: ['reasoning', 'other'],
  reasons: true,
  hasNodes: false,
  refusals: {},
  breaks: {},
  requiresConversation: true,
  createsConversation: 'hiagent/stream-v2.txt',
} as const satisfies Partial<Dialect>

export const DIALECTS: readonly Dialect[] = [{ ...HIAGENT, name: 'hiagent', transcripts: /^hiagent\// }]
