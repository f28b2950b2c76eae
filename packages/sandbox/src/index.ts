export { ERROR_KINDS, type ErrorKind, FAULTS, type FaultWord } from './faults.ts'
export {
  type RunningEmulator,
  type Sandbox,
  type SandboxAgent,
  type SandboxOptions,
  type SandboxPlatform,
  startEmulator,
  startSandbox,
} from './sandbox.ts'
export type { RunState, Seen, SeenRequest, SeenRun, SeenStop } from './seen.ts'
