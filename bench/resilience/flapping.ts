import { setTimeout as pause } from 'node:timers/promises'
import type { SandboxAgent } from '../../packages/sandbox/src/index.ts'
import { leaveServerCore } from '../servers/cores.ts'
import type { Stage } from '../stage.ts'
import { Clients } from './clients.ts'
import { startEmulators } from './emulators.ts'
import { counted, type Figures } from './figures.ts'

/** Dify gives its conversations their ids; those of FastGPT are the gateway's. */
const PLATFORMS = ['dify', 'fastgpt'] as const
const CONVERSATIONS = 1_000
const QUICK_CONVERSATIONS = 40
const TURNS = 5
const AT_ONCE = 200
/** Between two turns, so that a conversation is longer than an outage. */
const READING_MS = 1_000
const DOWN_MS = 2_000
const AGAIN_MS = 250
const WITHIN_MS = 600_000

interface Seen {
  turns: number
  /** Answers after which the client asked again. */
  readonly repeated: string[]
  readonly elsewhere: string[]
  readonly lost: string[]
  readonly failed: string[]
}

/** Conversations over two installations of a platform, of which one is down at any time, in turn. */
export async function measureFlapping(stage: Stage, figures: Figures): Promise<void> {
  stage.atEnd(leaveServerCore())
  const conversations = Number(
    stage.options.conversations ?? (stage.isQuick ? QUICK_CONVERSATIONS : CONVERSATIONS),
  )
  const sandbox = await startEmulators(stage)
  const database = await stage.database()
  const agents: Record<string, object> = {}
  const pairs = new Map<string, readonly [SandboxAgent, SandboxAgent]>()
  for (const platform of PLATFORMS) {
    const first = sandbox.agents[platform]
    const second = await sandbox.startSecond(platform)
    const deployments = [{ id: 'main' }, { id: 'second', baseUrl: second.baseUrl }]
    const { baseUrl, apiKey, options } = first
    agents[platform] = { platform, baseUrl, apiKey, ...options, deployments }
    pairs.set(platform, [first, second])
  }
  const gateway = await stage.gateway(database.url, sandbox.agents.openai.baseUrl, { settings: { agents } })
  const clients = new Clients(gateway)
  stage.atEnd(() => clients.close())
  for (const [platform, pair] of pairs) {
    const flapping = flap(pair)
    const startedMs = performance.now()
    const seen = await talk(clients, { platform, pair, conversations }).finally(flapping.stop)
    report(figures, platform, { seen, conversations, seconds: (performance.now() - startedMs) / 1_000 })
  }
}

/** Takes one of the two down at any time, and then the other. */
function flap(pair: readonly [SandboxAgent, SandboxAgent]): { stop(): Promise<void> } {
  const end = new AbortController()
  const work = async () => {
    for (let turn = 0; !end.signal.aborted; turn += 1) {
      const [down, up] = turn % 2 === 0 ? pair : ([pair[1], pair[0]] as const)
      await up.control.recover()
      await down.control.fail('refuse')
      await pause(DOWN_MS, undefined, { signal: end.signal }).catch(() => undefined)
    }
    for (const { control } of pair) await control.recover()
  }
  const working = work()
  return {
    stop() {
      end.abort()
      return working
    },
  }
}

interface Talk {
  readonly platform: string
  readonly pair: readonly [SandboxAgent, SandboxAgent]
  readonly conversations: number
}

async function talk(clients: Clients, { platform, pair, conversations }: Talk): Promise<Seen> {
  const seen: Seen = { turns: 0, repeated: [], elsewhere: [], lost: [], failed: [] }
  const deadlineMs = performance.now() + WITHIN_MS
  let next = 0
  const worker = async () => {
    while (next < conversations) {
      next += 1
      await converse(`${platform} ${next}`)
    }
  }
  const converse = async (conversation: string) => {
    let home: string | undefined
    const first = queryOf(conversation, 1)
    for (let turn = 1; turn <= TURNS; turn += 1) {
      if (turn > 1) await pause(READING_MS * (0.5 + Math.random()))
      const query = queryOf(conversation, turn)
      const text = await askUntilAnswered({ conversation, query })
      if (text === undefined) return
      seen.turns += 1
      // Of every turn there is one run, where the first one was.
      const [atFirst, atSecond] = pair.map((each) => each.seen.turns({ query }))
      const place = `${atFirst} at main, ${atSecond} at second`
      home ??= place
      const isOnce = (atFirst ?? 0) + (atSecond ?? 0) === 1
      if (!isOnce || place !== home) seen.elsewhere.push(`${query}: ${place}; the first turn: ${home}`)
      if (turn > 1 && !text.includes(`This is turn ${turn} of our conversation; it began with “${first}”.`))
        seen.lost.push(`${query}: ${text.slice(-120)}`)
    }
  }
  const askUntilAnswered = async ({ conversation, query }: { conversation: string; query: string }) => {
    while (performance.now() < deadlineMs) {
      const { status, reason, text } = await clients.ask({ agent: platform, query, conversation })
      if (status === 200) return text
      if (status !== 502 && status !== 503) {
        seen.failed.push(`${query}: ${status} ${reason}`)
        return undefined
      }
      seen.repeated.push(`${status} ${reason}`)
      await pause(AGAIN_MS * (0.5 + Math.random()))
    }
    seen.failed.push(`${query}: no answer in time`)
    return undefined
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return seen
}

function queryOf(conversation: string, turn: number): string {
  return `Turn ${turn} of ${conversation}.`
}

function report(
  figures: Figures,
  platform: string,
  { seen, conversations, seconds }: { seen: Seen; conversations: number; seconds: number },
): void {
  const part = `flapping ${platform}`
  for (const lines of [seen.elsewhere, seen.lost, seen.failed])
    for (const line of lines.slice(0, 5)) console.log(`${part}: ${line}`)
  const all = conversations * TURNS
  figures.add(part, `answered ${seen.turns} of ${all} turns in ${seconds.toFixed(0)} s`, {
    text: 'all',
    isHeld: seen.turns === all,
  })
  figures.add(part, `asked again after ${counted(seen.repeated)}`)
  figures.add(part, `turns elsewhere or more than once: ${seen.elsewhere.length}`, {
    text: '0',
    isHeld: seen.elsewhere.length === 0,
  })
  figures.add(part, `turns without their context: ${seen.lost.length}`, {
    text: '0',
    isHeld: seen.lost.length === 0,
  })
}
