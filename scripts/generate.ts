import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Generates the Prisma client and the types that Pothos derives from it, unless neither the schema nor the versions of both
 * have changed since the last time.
 */

const root = new URL('../', import.meta.url)
const client = new URL('apps/gateway/src/generated/prisma/client.ts', root)
const stamp = new URL('apps/gateway/src/generated/prisma.stamp', root)

const gateway = new URL('apps/gateway/package.json', root)
const pothos = pothosVersion()

const prisma = createRequire(import.meta.url).resolve('prisma/package.json')
const { version, bin } = JSON.parse(readFileSync(prisma, 'utf8')) as {
  version: string
  bin: { prisma: string }
}
const schema = readFileSync(new URL('prisma/schema.prisma', root))
const wanted = createHash('sha256').update(`${version} ${pothos}`).update(schema).digest('hex')

if (!existsSync(client) || !existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  const cli = fileURLToPath(new URL(bin.prisma, `file://${prisma}`))
  const run = spawnSync(process.execPath, [cli, 'generate', '--no-hints'], {
    cwd: root,
    encoding: 'utf8',
    env: environment(),
  })
  if (run.status !== 0) {
    console.error(`The Prisma client could not be generated:\n${run.stdout}${run.stderr}`)
    process.exit(1)
  }
  writeFileSync(stamp, wanted)
  console.log(`Prisma client ${version} generated.`)
}

function environment(): NodeJS.ProcessEnv {
  // Prisma starts other generators by their name.
  const PATH = [fileURLToPath(new URL('node_modules/.bin', gateway)), process.env.PATH].join(delimiter)
  // Prisma requires a schema engine before any command and would download one, although `generate` never runs it.
  return { ...process.env, PATH, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }
}

function pothosVersion(): string {
  const path = new URL('node_modules/@pothos/plugin-prisma/package.json', gateway)
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
