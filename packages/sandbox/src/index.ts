export {
  ERROR_KINDS,
  type ErrorKind,
  FAULTS,
  type FaultWord,
  FILE_KINDS,
  type FileKind,
  PAUSE_KINDS,
  type PauseKind,
} from './replies/faults.ts'
export {
  type Sandbox,
  type SandboxOptions,
  type SandboxPlatform,
  type SecondOptions,
  startSandbox,
} from './sandbox.ts'
export { OUTAGES, type Outage, type SandboxControl } from './serving/outage.ts'
export type { RunState, Seen, SeenRequest, SeenRun, SeenStop, TurnFilter } from './serving/seen.ts'
export type { SandboxAgent } from './serving/start-emulator.ts'
