import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** A third-party package that is part of ours. */
export interface ThirdPartyPackage {
  readonly name: string
  readonly version: string
  /** As its manifest has it: an identifier or an expression of SPDX. */
  readonly license: string
  readonly author: string | undefined
  /** The texts of its licence and of its notices; empty if its authors left them out. */
  readonly texts: readonly string[]
}

/** A package that npm installs beside ours. */
export interface OutsidePackage extends Pick<ThirdPartyPackage, 'name' | 'version' | 'license'> {
  /** One of several builds for different platforms, of which npm installs the one that fits. */
  readonly isOptional: boolean
}

/** Returns the packages to which these modules belong, in alphabetical order. Modules of our own are left out. */
export function bundledPackages(modules: readonly string[]): ThirdPartyPackage[] {
  const folders = new Set(modules.flatMap((id) => FOLDER.exec(id.replaceAll('\\', '/'))?.[1] ?? []))
  const packages = [...folders].map(readPackage)
  const byId = new Map(packages.map((each) => [`${each.name}@${each.version}`, each]))
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** The folder of the innermost package. */
const FOLDER = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//

/** Returns the dependencies of the package in `home`, which have none of their own but builds for platforms. */
export function outsidePackages(home: string): OutsidePackage[] {
  const { dependencies } = readManifest(home)
  return Object.keys(dependencies ?? {}).flatMap((name) => {
    const { version, license, optionalDependencies, dependencies: inner } = readManifest(folderOf(name, home))
    if (Object.keys(inner ?? {}).length > 0)
      throw new Error(`${name} has dependencies, which the list of software lacks.`)
    const platforms = Object.entries(optionalDependencies ?? {}).map(([name, version]) => {
      return { name, version, license, isOptional: true }
    })
    return [{ name, version, license, isOptional: false }, ...platforms]
  })
}

function folderOf(name: string, home: string): string {
  for (const folder of createRequire(join(home, 'package.json')).resolve.paths(name) ?? []) {
    try {
      readManifest(join(folder, name))
      return join(folder, name)
    } catch {
      // It may be in a folder further up.
    }
  }
  throw new Error(`${name} is not installed.`)
}

function readPackage(folder: string): ThirdPartyPackage {
  const { name, version, license, author } = readManifest(folder)
  const texts = readdirSync(folder)
    .filter((file) => TEXTS.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim())
  return { name, version, license, author: typeof author === 'object' ? author.name : author, texts }
}

const TEXTS = /^(?:licen[cs]e|copying|copyright|notice)/i

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly author?: string | { readonly name: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** @throws Error if the package does not say what it is or how it is licensed, which only a person can find out */
function readManifest(folder: string): Manifest {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  for (const field of ['name', 'version', 'license'] as const) {
    if (typeof manifest[field] !== 'string') throw new Error(`The manifest in ${folder} has no ${field}.`)
  }
  return manifest
}
