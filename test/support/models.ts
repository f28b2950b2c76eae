import type { SandboxPlatform } from '@trunkline/sandbox'
import { type GatewayWithSandbox, startGatewayWithSandbox } from './gateway-with-sandbox.ts'

/** What each platform is called by programs that know models only. */
export const MODELS: Readonly<Record<SandboxPlatform, string>> = {
  fastgpt: 'fastgpt/66e0a1b2c3d4e5f607182930',
  hiagent: 'hiagent',
  dify: 'dify',
  coze: 'coze',
  openai: 'openai',
}

export const PLATFORM_NAMES = Object.keys(MODELS) as SandboxPlatform[]

/** All platforms, and an agent that tells its reasoning. */
export function startModels(): Promise<GatewayWithSandbox> {
  return startGatewayWithSandbox({
    agents: ({ hiagent = {} }) => ({ thinker: { ...hiagent, reasoning: true } }),
  })
}

export const THOUGHTS = '先想一想，再回答。'

/** What the emulator calls with a sample of what its parameters want. */
export const WEATHER = {
  name: 'weather',
  description: 'The weather of a city',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
    additionalProperties: false,
  },
  sample: { city: '沙箱 sandbox' },
}
