/** A running process of the gateway, started with `--inspect` from its sources. */
export interface InspectedGateway {
  /** The address of its inspector, which it prints: `ws://…`. */
  readonly inspectorUrl: string
}

/** Functions by the file in which they are, each path relative to the folder of the gateway. */
export type FunctionsByFile = ReadonlyMap<string, readonly string[]>

/** More than enough that what a timer runs falls into some of the windows and not into all. */
const REPETITIONS = 5

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[]
    }[]
  }[]
}

/**
 * The gateway's own functions that every repetition of a request runs, as V8 counts them, one repetition after the other. What a
 * call does after its response, such as its settlement, is counted in the window of the next.
 *
 * @param ask - sends the request and reads its whole response
 */
export async function functionsOfAChat(
  { inspectorUrl }: InspectedGateway,
  ask: () => Promise<void>,
): Promise<FunctionsByFile> {
  const socket = new WebSocket(inspectorUrl)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  try {
    const send = commandsOf(socket)
    await send('Profiler.enable')
    await send('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await ask()
    await send('Profiler.takePreciseCoverage')
    let common: Set<string> | undefined
    for (let n = 0; n < REPETITIONS; n += 1) {
      await ask()
      const ran = ranIn((await send('Profiler.takePreciseCoverage')) as Coverage)
      common = common === undefined ? ran : new Set([...common].filter((each) => ran.has(each)))
    }
    const functions = [...(common ?? [])].map((each) => each.split('#') as [string, string])
    const byFile = Map.groupBy(functions, ([file]) => file)
    return new Map([...byFile].map(([file, each]) => [file, each.map(([, name]) => name)]))
  } finally {
    socket.close()
  }
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
