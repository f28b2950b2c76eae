import type { Answer } from './answer.ts'
import type { Routes } from './http-server.ts'
import type { Runs } from './runs.ts'
import type { SeenLog } from './seen.ts'

/** The services that an emulator gets from the sandbox. */
export interface EmulatorDeps {
  readonly seen: SeenLog
  readonly runs: Runs
  /** The pause between two fragments of a reply. */
  readonly delayMs: number
}

/** An emulated platform: its routes and the values with which a client reaches them. */
export interface Emulator {
  /** The part of the base URL after the origin. */
  readonly basePath: string
  readonly apiKey: string
  /** All keys, by the kind of app or the dialect that they select. */
  readonly keys: Readonly<Record<string, string>>
  /** An existing app, bot or model id, if the platform has such ids. */
  readonly appId?: string
  /** The properties that an entry of the gateway's configuration needs besides address and key. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly routes: Routes
  readonly notFound: Answer
}
