export { ERROR_KINDS, type ErrorKind, FAULTS, type FaultWord } from './faults.ts'
export {
  type Sandbox,
  type SandboxOptions,
  type SandboxPlatform,
  startSandbox,
} from './sandbox.ts'
export type { RunState, Seen, SeenRequest, SeenRun, SeenStop } from './seen.ts'
export type { SandboxAgent } from './start-emulator.ts'
