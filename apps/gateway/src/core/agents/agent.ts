export const PLATFORMS = ['fastgpt', 'hiagent', 'dify', 'coze', 'openai'] as const
export type Platform = (typeof PLATFORMS)[number]

export interface Timeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

export interface AgentApp {
  readonly id: string
  readonly name: string
  readonly default: boolean
  readonly apiKey?: string
  readonly botId?: string
  readonly model?: string
}

/** One entry under `agents` of the configuration: a platform's address and credentials under an id of ours. */
export interface Agent {
  /** The value of the `Agent` header. */
  readonly id: string
  readonly platform: Platform
  readonly name: string
  readonly description: string
  readonly baseUrl: string
  readonly apiKey?: string
  /** Empty: the entry lists no apps. */
  readonly apps: readonly AgentApp[]
  readonly model?: string
  readonly botId?: string
  /** Dify only: which kind of app the key belongs to. */
  readonly mode: 'chat' | 'completion' | 'workflow'
  readonly timeouts: Timeouts
  /** How long a reported end waits for what platforms send after it. */
  readonly endGraceMs: number
  /** Whether reasoning may reach OpenAI-compatible clients as `delta.reasoning_content`. */
  readonly reasoning: boolean
  /** FastGPT only: `filtered` leaves prompts and quoted knowledge out of `detail`. */
  readonly nodeData: 'filtered' | 'full'
  readonly sandbox: boolean
}
