import { type Sandbox, type SandboxAgent, startSandbox } from '../../packages/sandbox/src/index.ts'
import type { Stage } from '../stage.ts'

/** Emulators of all platforms in this process, which end with the scenario. */
export async function startEmulators(stage: Stage): Promise<Sandbox> {
  const sandbox = await startSandbox({ delayMs: 0 })
  stage.atEnd(sandbox.close)
  return sandbox
}

/** The entry of an agent that an emulator answers. */
export function entryOf(platform: string, { baseUrl, apiKey, options }: SandboxAgent): object {
  return { platform, baseUrl, apiKey, ...options }
}
