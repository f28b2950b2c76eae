import type { Dialect } from '#core/agents/dialect.test-support.ts'

const OPENAI = {
  platform: 'openai',
  key: 'app',
  appId: '',
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
  // Asked for JSON it sends JSON, of which a half is no reply that breaks off but one that cannot be read.
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
    // Its older releases tell a refusal by the status alone.
    refusals: {
      ...OPENAI.refusals,
      busy: 'agent_error',
      quota: 'agent_rate_limited',
      filtered: 'agent_rejected_input',
    },
    transcripts: /^openai\/vllm/,
  },
  {
    ...OPENAI,
    name: 'ollama',
    entry: { model: 'sandbox-ollama' },
    app: () => ({ model: 'sandbox-ollama' }),
    details: ['reasoning'],
    reasons: true,
    refusals: { ...OPENAI.refusals, busy: 'agent_error', filtered: 'agent_rejected_input' },
    // A failure in the middle is an empty chunk, and then nothing.
    breaks: { ...OPENAI.breaks, 'stream error-midstream': 'agent_truncated' },
    transcripts: /^openai\/ollama/,
  },
]
