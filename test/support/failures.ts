import { ERROR_KINDS, type SandboxPlatform } from '@trunkline/sandbox'
import { type GatewayWithSandbox, startGatewayWithSandbox } from './gateway-with-sandbox.ts'
import { MODELS } from './models.ts'

/** Commands to the sandbox after which no platform gives a whole reply. */
const FAILURES = [
  ...Object.keys(ERROR_KINDS).map((kind) => `error=${kind}`),
  ...['html', 'html-200', 'malformed', 'endless-line', 'error-midstream'],
]
/** Those after which the reply never ends. */
const SILENCES = ['hang', 'pings=20', 'silence']
/** The connection is lost. */
const CUT = ['truncate', 'reset']
/** Those of some platforms. An OpenAI-compatible server may answer with an empty text. */
const FAILURES_OF: Readonly<Record<SandboxPlatform, readonly string[]>> = {
  fastgpt: [...CUT, 'empty', 'node-failed'],
  hiagent: [...CUT, 'empty'],
  // It keeps an answer whose connection was lost.
  dify: ['empty'],
  coze: [...CUT, 'empty', 'requires-action'],
  openai: CUT,
}

/** Starts a gateway that also has an impatient agent of each platform, for questions that are never answered. */
export function startWithImpatientAgents(): Promise<GatewayWithSandbox> {
  const timeouts = { firstByteMs: 300, idleMs: 300 }
  return startGatewayWithSandbox({
    // One failure comes after the other.
    entry: { breaker: false },
    agents: (entries) =>
      Object.fromEntries(
        Object.entries(entries).map(([platform, entry]) => [`hasty-${platform}`, { ...entry, timeouts }]),
      ),
  })
}

/** Every question that a platform fails to answer, with the model to ask. */
export function failuresOf(platform: SandboxPlatform): readonly { model: string; question: string }[] {
  const model = MODELS[platform]
  const questions = (commands: readonly string[], model: string) =>
    commands.map((command) => ({ model, question: `sandbox:${command} Hello` }))
  return [
    ...questions([...FAILURES, ...FAILURES_OF[platform]], model),
    ...questions(SILENCES, `hasty-${model}`),
  ]
}
