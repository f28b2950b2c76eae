import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** The folder of compose.yaml, to which the paths in it are relative. */
export const DEPLOY = join(import.meta.dirname, '../../deploy')

/** A service as compose.yaml describes it; what the tests do not read is left out. */
export interface ComposeService {
  readonly image: string
  readonly command?: string | readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly networks?: { readonly default: { readonly ipv4_address: string } }
  readonly read_only?: boolean
  readonly tmpfs?: readonly string[]
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly stop_grace_period?: string
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
}

/**
 * Reads compose.yaml with these values for its variables, as `docker compose` does.
 *
 * @throws where a variable is required and is missing or empty, with the message of the file
 */
export function readCompose(variables: Readonly<Record<string, string>>): ComposeFile {
  const text = readFileSync(join(DEPLOY, 'compose.yaml'), 'utf8')
  const withoutComments = text.replaceAll(/^ *#.*$/gm, '')
  return parse(substitute(withoutComments, variables), { merge: true })
}

/** The variables of an environment file. */
export function readEnvironmentFile(name: string): Record<string, string> {
  const text = readFileSync(join(DEPLOY, name), 'utf8')
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  )
}

/** The file of the machine that a service sees at this path. */
export function mountedFile({ volumes = [] }: ComposeService, path: string): string {
  const volume = volumes.find((each) => each.split(':')[1] === path)
  if (volume === undefined) throw new Error(`nothing is mounted at ${path}`)
  return join(DEPLOY, volume.split(':')[0] ?? '')
}

function substitute(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind, word = '') => {
    const value = variables[name] ?? ''
    if (value === '' && kind === '?') throw new Error(`${name}: ${word}`)
    return value === '' ? word : value
  })
}

/** Texts of compose.yaml and of the files that it mounts, and what stands for them on this machine. */
export class Substitutes {
  readonly #texts: ReadonlyMap<string, string>
  readonly #unused: Set<string>

  constructor(texts: Readonly<Record<string, string>>) {
    this.#texts = new Map(Object.entries(texts))
    this.#unused = new Set(this.#texts.keys())
  }

  applyTo(text: string): string {
    let result = text
    for (const [from, to] of this.#texts) {
      if (result.includes(from)) this.#unused.delete(from)
      result = result.replaceAll(from, to)
    }
    return result
  }

  /** @throws if a text was nowhere: what is not replaced is tried with other values than those of this machine */
  requireAllUsed(): void {
    if (this.#unused.size > 0) throw new Error(`nothing says ${[...this.#unused].join(', ')}`)
  }
}
