import type { Answer } from './answer.ts'
import type { Routes } from './http-server.ts'
import type { Runs } from './runs.ts'
import type { SeenLog } from './seen.ts'

/** What an emulator is given. */
export interface Stage {
  readonly seen: SeenLog
  readonly runs: Runs
  /** Between two fragments of a reply. */
  readonly delayMs: number
}

/** One platform: its routes, and what a client needs to reach them. */
export interface Emulator {
  /** Between the origin and what clients append. */
  readonly basePath: string
  readonly apiKey: string
  /** All keys, by what they open. */
  readonly keys: Readonly<Record<string, string>>
  /** A real app, bot or model id, where the platform has such. */
  readonly appId?: string
  /** What an entry of the gateway's configuration needs beside address and key. */
  readonly options?: Readonly<Record<string, unknown>>
  readonly routes: Routes
  readonly notFound: Answer
}
