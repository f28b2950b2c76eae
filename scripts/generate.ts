import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/* Generates the Prisma client, unless neither the schema nor the version of Prisma has changed since the last time. */

const root = new URL('../', import.meta.url)
const client = new URL('apps/gateway/src/generated/prisma/client.ts', root)
const stamp = new URL('apps/gateway/src/generated/prisma.stamp', root)

const prisma = createRequire(import.meta.url).resolve('prisma/package.json')
const { version, bin } = JSON.parse(readFileSync(prisma, 'utf8')) as {
  version: string
  bin: { prisma: string }
}
const schema = readFileSync(new URL('prisma/schema.prisma', root))
const wanted = createHash('sha256').update(version).update(schema).digest('hex')

if (!existsSync(client) || !existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  const cli = fileURLToPath(new URL(bin.prisma, `file://${prisma}`))
  const run = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
    cwd: root,
    encoding: 'utf8',
    // Prisma requires a schema engine before any command and would download one, although `generate` never runs it.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  })
  if (run.status !== 0) {
    console.error(`The Prisma client could not be generated:\n${run.stdout}${run.stderr}`)
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
  console.log(`Prisma client ${version} generated.`)
}
