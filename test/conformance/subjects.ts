import type { Platform } from '@trunkline/gateway/src/core/agents/agent.ts'
import type { ErrorReason } from '@trunkline/gateway/src/core/errors.ts'
import type { ErrorKind, SeenRequest } from '@trunkline/sandbox'

/** One dialect of a platform as its emulator speaks it: how the gateway reaches it, and what it can and cannot do. */
export interface Subject {
  /** Also the id of its agent. */
  readonly name: string
  readonly platform: Platform
  /** Which of the emulator's keys opens the dialect. */
  readonly key: string
  /** What its entry of the configuration has beside address and key. */
  readonly entry: Readonly<Record<string, unknown>>
  /** What an app needs that the entry may list. */
  readonly app: (apiKey: string) => Readonly<Record<string, unknown>>
  /** The `app_id` of its calls. */
  readonly appId: string
  /** Who keeps the context of a conversation. */
  readonly context: 'client' | 'platform' | 'gateway' | 'none'
  /** The conversation that a request of the gateway names at the platform. */
  conversationOf(request: SeenRequest): unknown
  /** One run at a time in a conversation: others are refused. */
  readonly isExclusive: boolean
  /** Whether a run goes on until a stop call ends it; else it ends with its connection. */
  readonly hasStopCall: boolean
  readonly reportsUsage: boolean
  /** How it tells that its answer was cut. */
  readonly cut: 'length' | 'stop'
  /** The progress that an ordinary reply of the emulator comes with. */
  readonly details: readonly string[]
  readonly reasons: boolean
  /** Its runs are made of nodes, of which one may fail. */
  readonly hasNodes: boolean
  /** What a kind of refusal comes to, where the platform says it otherwise than most. */
  readonly refusals: Readonly<Partial<Record<ErrorKind, ErrorReason>>>
  /** The same of a broken reply. */
  readonly breaks: Readonly<Record<string, ErrorReason>>
  /** The recorded replies that are its own. */
  readonly transcripts: RegExp | undefined
  /** Another path at the emulator than the one the gateway asks for. */
  readonly rewrite?: readonly [from: string, to: string]
}

const FASTGPT = {
  platform: 'fastgpt',
  key: 'app',
  entry: {},
  app: () => ({}),
  appId: '66e0a1b2c3d4e5f607182930',
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
} as const satisfies Partial<Subject>

const HIAGENT = {
  platform: 'hiagent',
  key: 'app',
  entry: {},
  app: (apiKey: string) => ({ apiKey }),
  appId: '',
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
} as const satisfies Partial<Subject>

const DIFY = {
  platform: 'dify',
  entry: {},
  app: (apiKey: string) => ({ apiKey }),
  appId: '',
  context: 'platform',
  conversationOf: ({ body }) => body.conversation_id,
  isExclusive: false,
  hasStopCall: true,
  reportsUsage: true,
  cut: 'stop',
  details: ['sources'],
  reasons: false,
  hasNodes: false,
  // An ended conversation takes no more messages ever; an app that is gone is the operator's to mend.
  refusals: { busy: 'conversation_not_found', 'app-not-found': 'agent_misconfigured' },
  breaks: {},
} as const satisfies Partial<Subject>

const COZE = {
  platform: 'coze',
  key: 'cloud',
  entry: {},
  app: () => ({ botId: '7379462189365198898' }),
  appId: '7379462189365198898',
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
} as const satisfies Partial<Subject>

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
} as const satisfies Partial<Subject>

/** Every platform of the registry, in every dialect that its emulator has. */
export const SET_UPS: Readonly<Record<Platform, readonly Subject[]>> = {
  fastgpt: [
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
  ],
  hiagent: [{ ...HIAGENT, name: 'hiagent', transcripts: /^hiagent\// }],
  dify: [
    {
      ...DIFY,
      name: 'dify',
      key: 'chat',
      transcripts: /^dify\/(?!agent-stream|new-agent|chatflow|workflow-run)/,
    },
    {
      ...DIFY,
      name: 'dify-agent',
      key: 'agent',
      details: ['thought', 'tool_call', 'tool_result', 'sources'],
      transcripts: /^dify\/agent-stream/,
    },
    { ...DIFY, name: 'dify-new-agent', key: 'newAgent', transcripts: /^dify\/new-agent/ },
    {
      ...DIFY,
      name: 'dify-chatflow',
      key: 'chatflow',
      cut: 'length',
      hasNodes: true,
      details: ['node_started', 'node_finished', 'sources', 'other'],
      transcripts: /^dify\/chatflow-stream/,
    },
    {
      ...DIFY,
      name: 'dify-chatflow-2026',
      key: 'chatflow2026',
      cut: 'length',
      hasNodes: true,
      details: ['node_started', 'node_finished', 'sources', 'other'],
      transcripts: /^dify\/chatflow-failed/,
    },
    {
      ...DIFY,
      name: 'dify-completion',
      key: 'completion',
      entry: { mode: 'completion' },
      context: 'none',
      transcripts: undefined,
    },
    {
      ...DIFY,
      name: 'dify-workflow',
      key: 'workflow',
      entry: { mode: 'workflow' },
      context: 'none',
      cut: 'length',
      hasNodes: true,
      reportsUsage: false,
      details: ['node_started', 'node_finished', 'other'],
      transcripts: /^dify\/workflow-run/,
    },
  ],
  coze: [
    { ...COZE, name: 'coze', transcripts: /^coze\/(?!studio)/ },
    {
      ...COZE,
      name: 'coze-studio',
      key: 'studio',
      details: [],
      // It knows no limits, no balance and no moderation: an unnamed failure.
      refusals: {
        quota: 'agent_error',
        'rate-limit': 'agent_error',
        busy: 'agent_error',
        filtered: 'agent_error',
      },
      transcripts: /^coze\/studio/,
    },
  ],
  openai: [
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
  ],
}

export const SUBJECTS: readonly Subject[] = Object.values(SET_UPS).flat()
