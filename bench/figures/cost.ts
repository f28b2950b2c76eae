import { setTimeout as pause } from 'node:timers/promises'
import { type Load, run, type Target } from '../load/load.ts'
import type { Call } from '../load/workload.ts'
import { cpuUs } from './process-usage.ts'

export interface Cost {
  readonly cpuUs: number
  /** The duration of each call. */
  readonly timesMs: readonly number[]
}

/** Runs calls, and returns what they cost the server in total. */
export async function costOf(target: Target, call: Call, load: Load): Promise<Cost> {
  const beforeUs = cpuUs(target.pid)
  const timesMs = await run(target, call, load)
  await settled()
  return { timesMs, cpuUs: cpuUs(target.pid) - beforeUs }
}

/** Work after the reply (settlement in the ledger, closing of sockets) is part of the cost of a call. */
export function settled(): Promise<void> {
  return pause(200)
}
