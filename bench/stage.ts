import { type Child, startChild } from './servers/child.ts'
import { OTHER_CORE, SERVER_CORE } from './servers/cores.ts'
import { type GatewayOptions, type GatewayTarget, startGateway } from './servers/gateway.ts'
import { createScratchDatabase, type ScratchDatabase } from './servers/scratch-database.ts'

export type Scenario = (stage: Stage) => Promise<void>

/** What `pnpm bench` was called with. */
export interface BenchOptions {
  readonly quick?: boolean | undefined
  readonly calls?: string | undefined
  readonly keep?: boolean | undefined
  readonly postgres?: boolean | undefined
  readonly embedded?: boolean | undefined
  readonly grown?: boolean | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly rolls?: string | undefined
  readonly streams?: string | undefined
  readonly only?: string | undefined
  readonly seconds?: string | undefined
}

/** The options of a scenario, and the databases and servers that it opens, which end with it. */
export class Stage {
  readonly options: BenchOptions
  readonly #undo: (() => Promise<unknown>)[] = []
  #cleared = Promise.resolve()

  constructor(options: BenchOptions) {
    this.options = options
  }

  /** Fewer rounds or less data, with coarser figures. */
  get isQuick(): boolean {
    return this.options.quick === true
  }

  /** Has a step run when the scenario ends, also if it fails or is interrupted; the last step first. */
  atEnd(step: () => Promise<unknown>): void {
    this.#undo.push(step)
  }

  /** Ends everything. A scenario that fails because it was interrupted waits here until the interruption has done so. */
  clear(): Promise<void> {
    this.#cleared = this.#cleared.then(async () => {
      for (const step of this.#undo.splice(0).reverse()) await step()
    })
    return this.#cleared
  }

  /** A database that is dropped at the end, or whose URL is then printed if it is to be kept. */
  async database(): Promise<ScratchDatabase> {
    const database = await createScratchDatabase()
    this.atEnd(this.options.keep === true ? database.keep : database.drop)
    return database
  }

  async platform(): Promise<Child> {
    return this.child('mock-platform.ts', OTHER_CORE)
  }

  /** The baseline, which forwards to this URL. */
  async passThrough(url: string): Promise<Child> {
    return this.child('pass-through.ts', SERVER_CORE, url)
  }

  /** A gateway on this database, or on an embedded one, with the mock platform as its agent. */
  async gateway(
    databaseUrl: string | undefined,
    platformUrl: string,
    options?: GatewayOptions,
  ): Promise<GatewayTarget> {
    const gateway = await startGateway(databaseUrl, platformUrl, options)
    this.atEnd(gateway.stop)
    return gateway
  }

  /** A script of `servers` in a process of its own. */
  async child(...args: Parameters<typeof startChild>): Promise<Child> {
    const child = await startChild(...args)
    this.atEnd(child.stop)
    return child
  }
}
