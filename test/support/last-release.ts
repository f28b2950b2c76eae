import { execFile, execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
/** How releases of the gateway are tagged. */
const TAGS = ['v[0-9]*', 'trunkline@[0-9]*']
/**
 * Stands for the last release until there is one: the commit from which on this version and the one before share a database,
 * since the words of the ledger are no enums any more.
 */
const BEFORE_THE_FIRST_RELEASE = 'dd48c0e220377c2e43ebf803fc76a35fd2009748'

const run = promisify(execFile)

export interface LastRelease {
  /** Path of the module to run. */
  readonly main: string
  remove(): Promise<void>
}

/**
 * Returns the tag of the last release before this version, or the commit that stands for it; undefined, with a warning, if the
 * clone lacks it.
 *
 * @throws if it is lacking where REQUIRE_SERVICES is set, as it is in continuous integration
 */
export function nameOfLastRelease(env: NodeJS.ProcessEnv = process.env): string | undefined {
  try {
    const before = ['--merged', 'HEAD', '--no-contains', 'HEAD', '--sort=-creatordate']
    const [tag] = git('tag', '--list', ...before, ...TAGS).split('\n')
    const name = tag || BEFORE_THE_FIRST_RELEASE
    git('merge-base', '--is-ancestor', name, 'HEAD')
    return name
  } catch (cause) {
    const lacking =
      'the history of this clone does not reach back to the last release: run "git fetch --unshallow --tags"'
    if (env.REQUIRE_SERVICES) throw new Error(lacking, { cause })
    console.warn(`${lacking}; the test of two versions is skipped`)
    return undefined
  }
}

function git(...args: string[]): string {
  return execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Checks out a release and installs its packages, or takes those of this version where both have the same lockfile. */
export async function checkOut(name: string): Promise<LastRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-release-'))
  const archive = join(folder, 'release.tar')
  await run('git', ['-C', ROOT, 'archive', '--output', archive, name])
  await run('tar', ['-xf', archive, '-C', folder])
  await rm(archive)
  if (hasSameLockfile(folder)) await shareModules(folder)
  else await install(folder)
  return {
    main: join(folder, 'apps/gateway/bin/trunkline.js'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

function hasSameLockfile(folder: string): boolean {
  const [own = '', other] = [ROOT, folder].map((root) => readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'))
  return own === other
}

async function shareModules(folder: string): Promise<void> {
  for (const modules of globSync('{.,apps/gateway,packages/*}/node_modules', { cwd: ROOT })) {
    const target = join(folder, modules)
    await mkdir(dirname(target), { recursive: true })
    await symlink(join(ROOT, modules), target)
  }
}

async function install(folder: string): Promise<void> {
  const selected = ['--prod', '--frozen-lockfile', '--filter', '@trunkline/gateway...']
  const args = ['-y', 'pnpm@12', 'install', '--prefer-offline', ...selected]
  await run('npx', args, { cwd: folder, env: { ...process.env, CI: 'true' } })
}
