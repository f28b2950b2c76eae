import { readFileSync } from 'node:fs'
import { LineCounter, parseDocument } from 'yaml'
import { ConfigError, isMapping, type Mistake, pathOf } from './config-mistakes.ts'

/**
 * The content of a YAML file, or undefined where there is no such file.
 *
 * @throws {@link ConfigError} with the line and column of every syntax error
 */
export function readConfigFile(source: string): unknown {
  const text = readIfThere(source)
  return text === undefined ? undefined : parseYaml(text, source)
}

/** Replaces each `${NAME}` in a text by the variable's value; `$${` stands for `${`. */
export function expandVariables(
  value: unknown,
  env: NodeJS.ProcessEnv,
): { value: unknown; mistakes: Mistake[] } {
  const mistakes: Mistake[] = []

  const expand = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') return expandText(value, path)
    if (Array.isArray(value)) return value.map((item, index) => expand(item, `${path}[${index}]`))
    if (!isMapping(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, expand(item, pathOf(path, key))]),
    )
  }

  const expandText = (text: string, path: string): string =>
    text.replace(/(\$?)\$\{([^}]*)\}/g, (reference: string, escaped: string, name: string) => {
      if (escaped) return reference.slice(1)
      if (env[name]) return env[name]
      mistakes.push({ path, problem: `the environment variable ${name} is not set` })
      return reference
    })

  return { value: expand(value, ''), mistakes }
}

function readIfThere(source: string): string | undefined {
  try {
    return readFileSync(source, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause) {
      if (cause.code === 'ENOENT') return undefined
      throw new ConfigError([`${source}: cannot be read (${cause.code})`], { cause })
    }
    throw cause
  }
}

function parseYaml(text: string, source: string): unknown {
  const lineCounter = new LineCounter()
  // The library's pretty errors quote the lines around them, which may hold keys. Keys of mappings stay texts: a bot id
  // of 19 digits would lose its last ones as a number.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true })
  const mistakes = [...document.errors, ...document.warnings].map(({ pos: [offset], message }) => {
    const { line, col } = lineCounter.linePos(offset)
    return `${source}:${line}:${col}: ${message}`
  })
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  try {
    return document.toJS()
  } catch (cause) {
    // An alias without its anchor is found only now.
    if (cause instanceof ReferenceError) throw new ConfigError([`${source}: ${cause.message}`], { cause })
    throw cause
  }
}
