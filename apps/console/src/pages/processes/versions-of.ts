import type { ProcessesQuery } from '../../generated/graphql.ts'

export type Process = NonNullable<ProcessesQuery['gatewayProcesses']>[number]

export interface RunningVersion {
  /** Null for processes that have not said theirs. */
  readonly version: string | null
  readonly processes: number
}

/** The versions of the processes that live, those with the most processes first. */
export function versionsOf(
  processes: readonly Pick<Process, 'version' | 'state'>[],
): readonly RunningVersion[] {
  const counts = new Map<string | null, number>()
  for (const { version, state } of processes) {
    if (state === 'LIVE') counts.set(version, (counts.get(version) ?? 0) + 1)
  }
  return [...counts]
    .map(([version, count]) => ({ version, processes: count }))
    .sort((one, other) => other.processes - one.processes)
}
