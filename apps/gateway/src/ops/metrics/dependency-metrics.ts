import type { Database, LaneState } from '#core/database/database.ts'
import type { Instruments, LabelledValue } from './instruments.ts'

const COMMAND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2]

interface WatchedDisk {
  isFull(): boolean
  freeBytes?(): number | undefined
  readonly freeBytesMin?: number
}

/** Shows the state of what the gateway depends on: database, its disk, and Redis. */
export function createDependencyMetrics(instruments: Instruments) {
  const { counter, gauge, histogram, watchedCounter } = instruments
  let disk: WatchedDisk | undefined
  let engine: { readonly losses: number } | undefined
  let limitStoreUp: number | undefined
  gauge(
    'trunkline_limit_store_up',
    '1 while Redis shares the limits between processes, 0 while each process enforces its part; absent without REDIS_URL.',
    () => limitStoreUp,
    'min',
  )
  const commandSeconds = histogram(
    'trunkline_limit_store_command_duration_seconds',
    'Time of the commands for limits that Redis has answered; a call waits 200 ms at most.',
    [],
    COMMAND_SECONDS,
  )
  const commandErrors = counter(
    'trunkline_limit_store_errors_total',
    'Commands for limits that Redis has not answered in time, or answered with an error. After one, half a second passes without any.',
  )
  gauge(
    'trunkline_disk_full',
    '1 while calls and changes are refused because the disk of the database is full, or almost full.',
    () => (disk?.isFull() === true ? 1 : 0),
    'max',
  )
  gauge(
    'trunkline_data_dir_free_bytes',
    'Free space of DATA_DIR; only where the database is embedded.',
    () => disk?.freeBytes?.(),
    'min',
  )
  gauge(
    'trunkline_data_dir_free_bytes_needed',
    'The free space of DATA_DIR below which nothing is admitted or changed (storage.freeBytesMin); only where the database is embedded.',
    () => disk?.freeBytesMin,
    'max',
  )
  watchedCounter(
    'trunkline_embedded_database_losses_total',
    'How often the embedded database crashed or did not answer, and was opened again.',
    () => engine?.losses ?? 0,
  )

  return {
    limitStore(answers: boolean): void {
      limitStoreUp = answers ? 1 : 0
    },
    /** Counts a command that Redis has answered. */
    limitStoreAnswered: (ms: number): void => commandSeconds.add(ms / 1000),
    /** Counts a command that Redis has not answered in time, or answered with an error. */
    limitStoreFailed: (): void => commandErrors.add(1),
    /** Shows the connections to the database, of a server. */
    watchLanes: watchLanes(instruments),
    /** Shows the free space of `DATA_DIR` and whether a full disk prevents writes. */
    watchDisk(watched: WatchedDisk): void {
      disk = watched
    },
    /** Counts how often the engine of an embedded database had to be opened again. */
    watchEngine(watched: { readonly losses: number }): void {
      engine = watched
    },
  }
}

function watchLanes({ gauge, gauges, watchedCounters }: Instruments) {
  let connections: Database['connections']
  const byLane = (value: (state: LaneState) => number) => (): LabelledValue[] =>
    (connections?.states() ?? []).map((state) => [{ lane: state.lane }, value(state)])
  gauges(
    'trunkline_database_connections',
    'Connections to the database server that are in use, by the kind of work; only where the database is on a server.',
    ['lane'],
    byLane(({ inUse }) => inUse),
  )
  gauge(
    'trunkline_database_connections_max',
    'The most connections to the database server at once.',
    () => connections?.max,
  )
  gauges(
    'trunkline_database_requests_waiting',
    'Statements that wait for a connection to the database server, by the kind of work.',
    ['lane'],
    byLane(({ waiting }) => waiting),
  )
  watchedCounters(
    'trunkline_database_requests_refused_total',
    'Statements that got no connection to the database server in time, by the kind of work.',
    ['lane'],
    byLane(({ refused }) => refused),
  )
  return (watched: Database['connections']): void => {
    connections = watched
  }
}
