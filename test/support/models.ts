import type { SandboxPlatform } from '@trunkline/sandbox'
import { type GatewayWithSandbox, startGatewayWithSandbox } from './gateway-with-sandbox.ts'

/** The model name under which OpenAI clients reach each platform. */
export const MODELS: Readonly<Record<SandboxPlatform, string>> = {
  fastgpt: 'fastgpt/66e0a1b2c3d4e5f607182930',
  hiagent: 'hiagent',
  dify: 'dify',
  coze: 'coze',
  openai: 'openai',
}

export const PLATFORM_NAMES = Object.keys(MODELS) as SandboxPlatform[]

/** Starts a gateway with all platforms and an agent named `thinker`, which sends its reasoning. */
export function startModels(): Promise<GatewayWithSandbox> {
  return startGatewayWithSandbox({
    agents: ({ hiagent = {} }) => ({ thinker: { ...hiagent, reasoning: true } }),
  })
}

/** The reasoning that the emulators send. */
export const THOUGHTS = '先想一想，再回答。'

/** A tool definition, and the sample argument with which the emulators call it. */
export const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false as const,
  },
  sample: { city: '沙箱 sandbox' },
}
