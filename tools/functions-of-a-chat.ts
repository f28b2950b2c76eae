/** A running process of the gateway, started with `--inspect` from its sources. */
export interface InspectedGateway {
  /** The address of its inspector, which it prints: `ws://…`. */
  readonly inspectorUrl: string
}

/** Functions by the file in which they are, each path relative to the folder of the gateway. */
export type FunctionsByFile = ReadonlyMap<string, readonly string[]>

const REPETITIONS = 5
/** What a process does again and again by itself, of which this is the rarest. */
const RAREST = 'src/core/database/database-clock.ts#sync@'
const LOOK_EVERY_MS = 100

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
    }[]
  }[]
}

/** Counts the gateway's own functions that a request runs, as V8 counts them. */
export interface FunctionCounter {
  /**
   * The functions that every repetition of a request runs, one after the other. What a call does after its response, such as its
   * settlement, is counted in the window of the next.
   *
   * @param ask - sends the request and reads its whole response
   */
  count(ask: () => Promise<void>): Promise<FunctionsByFile>
  close(): void
}

/** Takes up to ten seconds, until the process has done all that it does by itself, which is then left out. */
export async function openFunctionCounter({ inspectorUrl }: InspectedGateway): Promise<FunctionCounter> {
  const socket = new WebSocket(inspectorUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const send = commandsOf(socket)
  await send('Profiler.enable')
  await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const take = async () => ranIn((await send('Profiler.takePreciseCoverage')) as Coverage)
  const own = await ranAlone(take)
  return {
    async count(ask) {
      await ask()
      await take()
      let common: Set<string> | undefined
      for (let n = 0; n < REPETITIONS; n += 1) {
        await ask()
        const ran = await take()
        common = common === undefined ? ran : new Set([...common].filter((each) => ran.has(each)))
      }
      const functions = [...(common ?? [])]
        .filter((each) => !own.has(each))
        .map((each) => each.split('#') as [string, string])
      const byFile = Map.groupBy(functions, ([file]) => file)
      return new Map([...byFile].map(([file, each]) => [file, each.map(([, name]) => name)]))
    },
    close: () => socket.close(),
  }
}

/** What runs between two times at which the rarest of its timers fires. What comes before may be the end of an earlier call. */
async function ranAlone(take: () => Promise<Set<string>>): Promise<Set<string>> {
  const own = new Set<string>()
  for (let rounds = 0; rounds < 2; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    const ran = await take()
    const isRound = [...ran].some((each) => each.startsWith(RAREST))
    if (rounds > 0) for (const each of ran) own.add(each)
    if (isRound) rounds += 1
  }
  // What the last one has begun may end in the window after it.
  await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  for (const each of await take()) own.add(each)
  return own
}

function ranIn({ result }: Coverage): Set<string> {
  const ran = result.flatMap(({ url, functions }) => {
    const file = /apps\/gateway\/(src\/.*)$/.exec(url)?.[1]
    if (file === undefined || file.includes('/generated/')) return []
    return functions.flatMap(({ functionName, ranges: [whole] }) => {
      const isModule = functionName === '' && whole?.startOffset === 0
      return whole === undefined || whole.count === 0 || isModule
        ? []
        : [`${file}#${functionName || '()'}@${whole.startOffset}`]
    })
  })
  return new Set(ran)
}

/** Sends commands of the inspector's protocol, each of which has its own answer. */
function commandsOf(socket: WebSocket) {
  const waiting = new Map<number, (result: unknown) => void>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  let last = 0
  return (method: string, params: object = {}) => {
    last += 1
    const id = last
    return new Promise<unknown>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  }
}
