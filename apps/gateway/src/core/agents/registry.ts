import type { Adapter } from './adapter.ts'
import type { Platform } from './agent.ts'
import { coze } from './coze.ts'
import { dify } from './dify.ts'
import { fastgpt } from './fastgpt.ts'
import { hiagent } from './hiagent.ts'
import { openai } from './openai.ts'

const ADAPTERS: Readonly<Record<Platform, Adapter>> = { fastgpt, hiagent, dify, coze, openai }

export function adapterOf(platform: Platform): Adapter {
  return ADAPTERS[platform]
}
