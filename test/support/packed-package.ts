import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const PACKAGES = join(import.meta.dirname, '../../packages')

const run = promisify(execFile)

/** The packages that are published, by their folders. */
export type PublishedPackage = 'sdk' | 'sandbox'

/** A package as npm would publish it, installed into an empty project. */
export interface PackedPackage {
  /** Directory of the project, in which programs can import the package. */
  readonly project: string
  /** Directory from which the package is packed, with its build. */
  readonly stage: string
  readonly tarball: string
  /** Directory of the installed package. */
  readonly installed: string
  remove(): Promise<void>
}

/** Builds and packs a package and installs it, together with `others`, into an empty project. */
export async function packPackage(
  name: PublishedPackage,
  ...others: readonly PublishedPackage[]
): Promise<PackedPackage> {
  const home = await mkdtemp(join(tmpdir(), `trunkline-${name}-`))
  const packed = await pack(name, home)
  const more = await Promise.all(others.map((each) => pack(each, home)))
  const project = join(home, 'project')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "private": true }')
  const tarballs = [packed, ...more].map(({ tarball }) => tarball)
  await run('npm', ['install', ...tarballs, '--offline', '--no-audit', '--no-fund'], { cwd: project })
  return {
    project,
    ...packed,
    installed: join(project, `node_modules/@trunkline/${name}`),
    remove: () => rm(home, { recursive: true, force: true }),
  }
}

async function pack(name: PublishedPackage, home: string): Promise<{ stage: string; tarball: string }> {
  const source = join(PACKAGES, name)
  // The tests run several times side by side, so each builds into a folder of its own.
  const stage = join(home, name)
  const isLeftOut = (path: string) =>
    ['node_modules', 'dist', 'reference', 'schema.graphql'].includes(basename(path))
  await cp(source, stage, { recursive: true, filter: (path) => !isLeftOut(path) })
  await run(join(source, 'node_modules/.bin/tsdown'), ['--out-dir', join(stage, 'dist')], { cwd: source })
  const manifest = JSON.parse(await readFile(join(stage, 'package.json'), 'utf8'))
  // As pnpm does where it publishes; `exports` then has no condition for sources, which are not in the package.
  const published = { ...manifest, exports: manifest.publishConfig.exports ?? manifest.exports }
  await writeFile(join(stage, 'package.json'), JSON.stringify(published))
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], { cwd: stage })
  return { stage, tarball: join(home, `trunkline-${name}-${manifest.version}.tgz`) }
}
