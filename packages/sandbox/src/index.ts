export { ERROR_KINDS, type ErrorKind, FAULTS, type FaultWord } from './replies/faults.ts'
export {
  type Sandbox,
  type SandboxOptions,
  type SandboxPlatform,
  startSandbox,
} from './sandbox.ts'
export type { RunState, Seen, SeenRequest, SeenRun, SeenStop, TurnFilter } from './serving/seen.ts'
export type { SandboxAgent } from './serving/start-emulator.ts'
