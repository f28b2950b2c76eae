import { GATEWAY, type Who, whoIs } from '#core/audit/actor.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { sleep } from '#core/base/async/sleep.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { ROLLED_OUT_WITHIN_MS, type ToldConfiguration } from '#core/ledger/configuration-state.ts'
import type { GatewayProcess, Processes } from '#core/ledger/process-list.ts'
import type { OnLimit } from '#core/limits/limits.ts'
import type { TakeWrite } from '#core/limits/writes.ts'
import { type Principal, requireAdmin } from '#core/requests/principal.ts'
import {
  readWantedConfiguration,
  type ServedConfiguration,
  type WantedConfiguration,
  wantConfiguration,
} from './wanted-sql.ts'

/** A configuration that was read and is valid, but is not served yet. */
export interface ReadConfiguration extends ServedConfiguration {
  /** Serves it from now on, in all workers of the process. */
  take(): void
}

/** Where the process has its configuration from. */
export interface ConfigurationSource {
  /** What is served now. */
  served(): ServedConfiguration
  /**
   * Reads the file anew.
   *
   * @throws Problem `configuration_invalid`, which names everything that is wrong
   */
  read(): Promise<ReadConfiguration>
  /** What of the file takes effect, by the descriptions before and after: agents as a whole, of the limits each value. */
  changes(before: unknown, after: object): readonly string[]
}

export interface Reload {
  /** The number of the reload. */
  readonly number: number
  /** What is another than what was loaded last, as places in the file. */
  readonly changed: readonly string[]
  /** What takes effect with the next start, in one process or more. */
  readonly needsRestart: readonly string[]
  /** The processes that live, with what they serve after the reload, or after the time in which they are waited for. */
  readonly processes: readonly GatewayProcess[]
}

export interface ConfigurationsDeps {
  readonly source: ConfigurationSource
  readonly sql: Sql
  /** Whether other processes share the database. */
  readonly isShared: boolean
  readonly runtime: Pick<Runtime, 'now' | 'elapsedMs'>
  readonly processes: Pick<Processes, 'list'>
  readonly takeWrite: TakeWrite
  /** Tells the other processes what this one serves. Does nothing in the process of a command. */
  readonly tell: () => Promise<void>
  readonly observer: {
    /** This process serves another configuration since a reload. */
    taken(reload: Pick<Reload, 'number' | 'changed' | 'needsRestart'>): void
    /** Called when this process starts or stops serving a configuration other than the wanted one. */
    differs(differs: boolean, why: string | undefined): void
  }
}

/** How often a process looks whether a reload was asked for. */
const LOOK_MS = 1_000
/** How long the answer to a reload waits for the other processes, and how often it looks. */
const ANSWER_WITHIN_MS = 5_000
const ANSWER_LOOK_MS = 200
/** An error is stored in each row of a process. */
const ERROR_CHARACTERS_MAX = 2_000

/** The configuration of this process among those of the others. */
export type Configurations = ReturnType<typeof createConfigurations>

export function createConfigurations(deps: ConfigurationsDeps) {
  const { source, sql, runtime, processes, takeWrite, tell, observer } = deps
  let number = 0
  let since = runtime.now()
  let known = ''
  let error: string | undefined
  let differs = false
  let timer: NodeJS.Timeout | undefined
  /** Whether the file is read no further time because of the last reload: it is that of the reload, or its time is over. */
  let isRolledOut = true
  let differsSinceMs: number | undefined
  /** What the other processes were told last. */
  let told = ''
  /** One after the other, since each compares what it has read with what is served. */
  let working: Promise<unknown> = markRejectionHandled(Promise.resolve())
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = markRejectionHandled(working.then(work, work))
    working = done
    return done
  }

  function state(): ToldConfiguration {
    const { fingerprint, needsRestart } = source.served()
    // A sibling of this worker may have read it.
    if (fingerprint !== known) {
      if (known !== '') since = runtime.now()
      known = fingerprint
    }
    return {
      number,
      fingerprint,
      since: since.toISOString(),
      needsRestart,
      ...(error !== undefined && { error }),
    }
  }

  function judge(isDifferent: boolean, why: string | undefined): void {
    error = why
    if (isDifferent === differs) return
    differs = isDifferent
    observer.differs(isDifferent, why)
  }

  function take(read: ReadConfiguration, wanted: WantedConfiguration): void {
    number = Math.max(number, wanted.number)
    const served = source.served()
    if (read.fingerprint === served.fingerprint) return
    const changed = source.changes(served.description, read.description)
    read.take()
    observer.taken({ number: wanted.number, changed, needsRestart: read.needsRestart })
  }

  /** Reads the file, and asks the other processes to read theirs. */
  async function reloadBy(who: Who): Promise<Omit<Reload, 'processes'>> {
    const read = await source.read()
    const wanted = await wantConfiguration(sql, read, { who, isReload: true })
    take(read, wanted)
    isRolledOut = true
    differsSinceMs = undefined
    judge(false, undefined)
    // It is served already. The next heartbeat tells the others.
    await tellOthers().catch(() => undefined)
    const changed = source.changes(wanted.before, read.description)
    return { number: wanted.number, changed, needsRestart: read.needsRestart }
  }

  /** Follows what other processes want: reads the file after a reload, and sees whether this process serves what it should. */
  async function follow(): Promise<void> {
    const wanted = await readWantedConfiguration(sql)
    if (wanted === undefined) return
    const isReload = wanted.number > number
    if (isReload) {
      number = wanted.number
      isRolledOut = false
      differsSinceMs = undefined
    }
    const why = isRolledOut ? undefined : await readOwn(wanted)
    if (source.served().fingerprint === wanted.fingerprint) {
      isRolledOut = true
      differsSinceMs = undefined
      judge(false, undefined)
    } else {
      differsSinceMs ??= runtime.elapsedMs()
      // Its file may still be on its way, or this process is about to be replaced by one that has it.
      const isOver = runtime.elapsedMs() - differsSinceMs >= ROLLED_OUT_WITHIN_MS
      if (!isRolledOut) error = why?.slice(0, ERROR_CHARACTERS_MAX)
      isRolledOut ||= isOver
      if (isOver) judge(true, error)
    }
    if (isReload || told !== JSON.stringify(state())) await tellOthers()
  }

  async function tellOthers(): Promise<void> {
    told = JSON.stringify(state())
    await tell()
  }

  /** Serves what the file has. Returns what is wrong with it, if anything is. */
  async function readOwn(wanted: WantedConfiguration): Promise<string | undefined> {
    try {
      take(await source.read(), wanted)
      return undefined
    } catch (problem) {
      return problem instanceof Problem ? problem.detail : String(problem)
    }
  }

  function schedule(): void {
    timer = setTimeout(() => {
      // A database that is away is looked at again the next time.
      inTurn(follow).then(again, again)
    }, LOOK_MS)
    timer.unref()
  }

  function again(): void {
    if (timer !== undefined) schedule()
  }

  /** Waits until every process that lives has followed the reload, but not long for those that do not answer. */
  async function followed(caller: Principal, to: number): Promise<readonly GatewayProcess[]> {
    const endMs = runtime.elapsedMs() + ANSWER_WITHIN_MS
    for (;;) {
      const living = await processes.list(caller, { state: 'live' })
      const isDone = living.every(
        ({ configuration }) =>
          configuration === null || (configuration.number >= to && configuration.state !== 'pending'),
      )
      if (isDone || runtime.elapsedMs() >= endMs) return living
      await sleep(ANSWER_LOOK_MS)
    }
  }

  return {
    /** What the heartbeats of this process report. */
    state,
    /** Whether this process serves another configuration than it should. */
    get differs(): boolean {
      return differs
    },
    /** Records with which configuration the process has started. */
    async record(): Promise<void> {
      const wanted = await readWantedConfiguration(sql)
      // Read once more, because a reload may have been asked for since the start has read the file, and is not followed then.
      if (wanted !== undefined) {
        number = wanted.number
        await readOwn(wanted)
      }
      await wantConfiguration(sql, source.served(), { who: GATEWAY, isReload: false })
      // The process tells it when it joins the others.
      told = JSON.stringify(state())
    },
    /** Follows the reloads of other processes from now on. */
    watch(): void {
      if (deps.isShared && timer === undefined) schedule()
    },
    stop(): void {
      clearTimeout(timer)
      timer = undefined
    },
    /** Reads the file because of a signal to this process. */
    reloadBySignal: () => inTurn(() => reloadBy(GATEWAY)),
    /**
     * Reads the configuration file of this process, serves it, and has all other processes read theirs. A mistake in the file changes
     * nothing anywhere. What needs a restart keeps its value.
     *
     * @throws Problem `configuration_invalid`; `role_denied`, `permission_denied`; `rate_limited`
     */
    async reload(caller: Principal, onLimit?: OnLimit): Promise<Reload> {
      requireAdmin(caller)
      await takeWrite(caller, onLimit)
      const reloaded = await inTurn(() => reloadBy(whoIs(caller)))
      const living = await followed(caller, reloaded.number)
      // A command serves nothing, so that it has no start to differ from.
      const inOthers = living.flatMap(({ configuration }) => configuration?.needsRestart ?? [])
      return {
        ...reloaded,
        needsRestart: [...new Set([...reloaded.needsRestart, ...inOthers])],
        processes: living,
      }
    },
  }
}
