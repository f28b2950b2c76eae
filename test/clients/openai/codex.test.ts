import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CountedKey, createCountedKey } from '../../support/calls-of-key.ts'
import { failuresOf, startWithImpatientAgents } from '../../support/failures.ts'
import type { GatewayWithSandbox } from '../../support/gateway-with-sandbox.ts'

// A process, because Codex is a program, which finds the gateway by its configuration file.

const ROOT = join(import.meta.dirname, '../../..')
const PROGRAM = join(ROOT, 'test/clients/node_modules/codex/vendor/x86_64-unknown-linux-musl/bin/codex')
const isInstalled = existsSync(PROGRAM) || Boolean(process.env.REQUIRE_SERVICES)

describe.skipIf(!isInstalled)('Codex, with the configuration of docs/tools.md', () => {
  let system: GatewayWithSandbox
  let home: string

  beforeAll(async () => {
    system = await startWithImpatientAgents()
    home = await mkdtemp(join(tmpdir(), 'codex-'))
    await mkdir(join(home, 'project'))
    await writeFile(join(home, 'config.toml'), await documentedConfig())
  })
  afterAll(async () => {
    await system.remove()
    await rm(home, { recursive: true, force: true })
  })

  async function documentedConfig(): Promise<string> {
    const page = await readFile(join(ROOT, 'docs/tools.md'), 'utf8')
    const [, config = ''] = /^```toml config\.toml\n(.*?)^```/ms.exec(page) ?? []
    expect(config).toContain('http://127.0.0.1:8080/')
    return config.replace('http://127.0.0.1:8080', system.gateway.url)
  }

  /** Runs one turn and returns the exit code and the events that Codex prints. */
  async function codex({ apiKey }: CountedKey, model: string, ...args: string[]) {
    // A sandbox of its own would need rights that containers lack; the only command it runs is no command at all.
    const settings = ['--skip-git-repo-check', '--json', '--sandbox', 'danger-full-access', '--model', model]
    const child = spawn(PROGRAM, ['exec', ...settings, ...args], {
      cwd: join(home, 'project'),
      env: { PATH: process.env.PATH ?? '', HOME: home, CODEX_HOME: home, TRUNKLINE_API_KEY: apiKey },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
    const lines = output.split('\n').filter((line) => line.startsWith('{'))
    return { code: code as number | null, events: lines.map((line): CodexEvent => JSON.parse(line)) }
  }

  test('answers, and remembers the first turn in the second', async () => {
    const key = await createCountedKey(system)
    const first = await codex(key, 'openai', 'My name is Ada.')
    expect(first.code).toBe(0)
    const thread = first.events.find(({ type }) => type === 'thread.started')?.thread_id ?? ''
    const second = await codex(key, 'openai', 'resume', thread, 'What is my name?')
    expect(messagesOf(second.events).at(-1)).toContain('Your name is Ada;')
    expect(second.events.at(-1)).toMatchObject({
      type: 'turn.completed',
      usage: { output_tokens: expect.any(Number) },
    })
    expect(await key.calls(2)).toMatchObject(Array(2).fill({ face: 'responses', outcome: 'done' }))
  })

  test('runs the command that the model asks for, and the model answers with its result', async () => {
    const key = await createCountedKey(system)
    const { code, events } = await codex(key, 'openai', 'Please use the tool')
    expect(code).toBe(0)
    expect(events.map(({ item }) => item?.type)).toContain('command_execution')
    expect(messagesOf(events).at(-1)).toMatch(/^The tool answered: /)
    expect(await key.calls(2)).toHaveLength(2)
  })

  test.each(['fastgpt/demo', 'hiagent', 'dify', 'coze'])(
    '%s, which has no tools, is refused once, and the message says why',
    async (model) => {
      const key = await createCountedKey(system)
      const { code, events } = await codex(key, model, 'Hello')
      expect(code).toBe(1)
      expect(events.at(-1)?.error?.message).toMatch(/"param":"tools"/)
      // A request that is refused before its call begins is not in the ledger.
      expect(await key.calls(0)).toEqual([])
    },
  )

  test('fails where the platform fails, and each failure is one call', async () => {
    const key = await createCountedKey(system)
    const failures = failuresOf('openai')
    const unnoticed = []
    for (const { model, question } of failures) {
      const { code, events } = await codex(key, model, question)
      if (code === 0 || events.at(-1)?.type !== 'turn.failed') unnoticed.push(question)
    }
    expect(unnoticed).toEqual([])
    expect(await key.calls(failures.length)).toHaveLength(failures.length)
  })
})

interface CodexEvent {
  readonly type: string
  readonly thread_id?: string
  readonly item?: { readonly type: string; readonly text?: string }
  readonly error?: { readonly message: string }
  readonly usage?: object
}

function messagesOf(events: readonly CodexEvent[]): string[] {
  return events.flatMap(({ type, item }) =>
    type === 'item.completed' && item?.type === 'agent_message' ? [item.text ?? ''] : [],
  )
}
