import { coze } from '#core/agents/platforms/coze/adapter.ts'
import { dify } from '#core/agents/platforms/dify/adapter.ts'
import { fastgpt } from '#core/agents/platforms/fastgpt/adapter.ts'
import { hiagent } from '#core/agents/platforms/hiagent/adapter.ts'
import { openai } from '#core/agents/platforms/openai/adapter.ts'
import type { Adapter } from './adapter.ts'
import type { Platform } from './agent.ts'

const ADAPTERS: Readonly<Record<Platform, Adapter>> = { fastgpt, hiagent, dify, coze, openai }

export function adapterOf(platform: Platform): Adapter {
  return ADAPTERS[platform]
}
