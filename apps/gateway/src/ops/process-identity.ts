import { hostname } from 'node:os'
import { systemRuntime } from '#core/base/runtime.ts'
import type { ProcessIdentity } from '#core/ledger/instances.ts'
import { BUILD } from './build-info.ts'

/** The identity of this process, with a fresh id. */
export function identifyProcess(): ProcessIdentity {
  return { id: systemRuntime.newId(), host: hostname(), pid: process.pid, version: BUILD.version }
}
