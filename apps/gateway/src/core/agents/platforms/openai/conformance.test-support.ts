import type { Dialect } from '#test/agents/dialect.test-support.ts'

const OPENAI = {
  platform: 'openai',
  key: 'app',
  appId: '',
  takesFiles: 'data',
  context: 'gateway',
  conversationOf: () => undefined,
  isExclusive: false,
  hasStopCall: false,
  reportsUsage: true,
  cut: 'length',
  details: [],
  reasons: false,
  hasNodes: false,
  refusals: {
    busy: 'agent_rate_limited',
    'not-found': 'agent_misconfigured',
    'app-not-found': 'agent_misconfigured',
  },
  // A blocking call gets one JSON body. Half of it is malformed rather than truncated.
  breaks: { 'json truncate': 'agent_malformed' },
  retryAfter: '20',
  mayAnswerNothing: true,
  ignoresVariables: true,
} as const satisfies Partial<Dialect>

export const DIALECTS: readonly Dialect[] = [
  {
    ...OPENAI,
    name: 'openai',
    entry: { model: 'sandbox' },
    app: () => ({ model: 'sandbox' }),
    transcripts: /^(?:openai\/(?!vllm|ollama)|generic\/)/,
  },
  {
    ...OPENAI,
    name: 'vllm',
    entry: { model: 'sandbox-vllm' },
    app: () => ({ model: 'sandbox-vllm' }),
    details: ['reasoning'],
    reasons: true,
    transcripts: /^openai\/vllm/,
  },
  {
    ...OPENAI,
    name: 'ollama',
    entry: { model: 'sandbox-ollama' },
    app: () => ({ model: 'sandbox-ollama' }),
    details: ['reasoning'],
    reasons: true,
    // Ollama reports a failure during a run as an empty chunk, after which the stream closes.
    breaks: { ...OPENAI.breaks, 'stream error-midstream': 'agent_truncated' },
    transcripts: /^openai\/ollama/,
  },
]
