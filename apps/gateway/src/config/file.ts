import { type ErrorCode, LineCounter, parseDocument, type Scalar, visit, type YAMLParseError } from 'yaml'
import { readRegularFile, UnreadableFile } from '#core/base/read-regular-file.ts'
import { errorCode } from '#core/base/values/error-code.ts'
import { isObject } from '#core/base/values/json.ts'
import type { FileTexts } from './file-texts.ts'
import { ConfigError, type ConfigIssue, pathOf } from './issues.ts'

// Linear time of all patterns here: not needed, because only operators write this file.

/**
 * Reads a YAML file. Returns undefined if the file does not exist.
 *
 * @throws {@link ConfigError} with the place of each syntax error
 */
export async function readConfigFile(source: string): Promise<unknown> {
  const text = await readIfThere(source)
  return text === undefined ? undefined : parseYaml(text, source)
}

/** What {@link expandVariables} reads. */
export interface Variables {
  readonly env: NodeJS.ProcessEnv
  readonly files: FileTexts
}

const FILE = 'file:'

/**
 * Replaces each `${NAME}` in the strings of a value by the environment variable, and each `${file:/path}` by the content of the
 * file without its last line break; `$${` is an escaped `${`. Returns the names of the variables as well.
 */
export function expandVariables(
  value: unknown,
  { env, files }: Variables,
): { value: unknown; issues: ConfigIssue[]; names: ReadonlySet<string> } {
  const issues: ConfigIssue[] = []
  const names = new Set<string>()

  const expand = (value: unknown, path: string): unknown => {
    if (typeof value === 'string') return expandText(value, path)
    if (Array.isArray(value)) return value.map((item, index) => expand(item, `${path}[${index}]`))
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, expand(item, pathOf(path, key))]),
    )
  }

  const expandText = (text: string, path: string): string =>
    text.replace(/(\$?)\$\{([^}]*)\}/g, (reference: string, escaped: string, name: string) => {
      if (escaped) return reference.slice(1)
      const found = name.startsWith(FILE) ? contentOf(name.slice(FILE.length)) : variable(name)
      if ('text' in found) return found.text
      issues.push({ path, problem: found.problem })
      return reference
    })

  const variable = (name: string): Found => {
    names.add(name)
    const text = env[name]
    return text ? { text } : { problem: `the environment variable ${name} is not set` }
  }

  const contentOf = (file: string): Found => {
    const read = files.read(file)
    if ('problem' in read) return read
    const text = read.text.replace(/\r?\n$/, '')
    return text === '' ? { problem: `the file ${file} is empty` } : { text }
  }

  return { value: expand(value, ''), issues, names }
}

type Found = { readonly text: string } | { readonly problem: string }

async function readIfThere(source: string): Promise<string | undefined> {
  try {
    return await readRegularFile(source)
  } catch (cause) {
    const reason = cause instanceof UnreadableFile ? cause.message : errorCode(cause)
    if (reason === undefined) throw cause
    if (reason === 'ENOENT') return undefined
    throw new ConfigError([`${source}: cannot be read (${reason})`], { cause })
  }
}

function parseYaml(text: string, source: string): unknown {
  const lineCounter = new LineCounter()
  // The library's pretty errors quote the lines around them, which may hold API keys. Keys of mappings stay strings, since
  // a bot id of 19 digits would lose its last digits as a number.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true })
  const issues = [...firstCauses(document.errors), ...document.warnings].map(({ code, message, pos }) => ({
    offset: pos[0],
    problem: inWords(code, message, text.slice(...pos)),
  }))
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined)
        issues.push({
          offset: alias.range?.[0] ?? 0,
          problem: 'a value that starts with * must be put in quotes, unless one before it is marked with &',
        })
    },
    Scalar(_, scalar) {
      if (isRounded(scalar)) scalar.value = BigInt(scalar.source ?? '')
    },
  })
  if (issues.length > 0) {
    throw new ConfigError(
      issues.map(({ offset, problem }) => {
        const { line, col } = lineCounter.linePos(offset)
        return `${source}:${line}:${col}: ${nearKey(text, offset)}${problem}`
      }),
    )
  }
  try {
    return document.toJS()
  } catch (cause) {
    // The library refuses aliases of aliases that would fill the memory.
    if (cause instanceof ReferenceError) throw new ConfigError([`${source}: ${cause.message}`], { cause })
    throw cause
  }
}

/** One syntax error makes the parser report others after it, so only the first is shown, unless all are repeated keys. */
function firstCauses(errors: readonly YAMLParseError[]): readonly YAMLParseError[] {
  const broken = errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  return broken === undefined ? errors : [broken]
}

/**
 * The parser's error in terms of the file instead of the grammar. It quotes at most one character, since a value that looks
 * like grammar may be a secret.
 */
function inWords(code: ErrorCode, message: string, found: string): string {
  switch (code) {
    case 'DUPLICATE_KEY':
      return 'this key is there already; each may be given once'
    case 'TAB_AS_INDENT':
      return 'a tab indents this line; use spaces'
    case 'BAD_INDENT':
      return message.startsWith('Flow')
        ? 'a bracket that was opened is not closed'
        : 'this line is indented differently from the others of its mapping or list'
    case 'BLOCK_AS_IMPLICIT_KEY':
      return 'a second key is on this line, or the next line is indented too far'
    case 'MULTILINE_IMPLICIT_KEY':
      return 'the colon after a key is missing, or the next line is indented too far'
    case 'MISSING_CHAR':
      return 'a quotation mark that was opened is not closed'
    case 'BAD_SCALAR_START':
      return `a value that starts with ${found.charAt(0)} must be put in quotes`
    case 'UNEXPECTED_TOKEN':
      return 'something follows where the value has ended; put the whole value in quotes'
    case 'TAG_RESOLVE_FAILED':
      return 'a value that starts with ! must be put in quotes'
    case 'MULTIPLE_DOCS':
      return 'a second document begins here; the file holds one'
    default:
      return message
  }
}

const KEY = /^[\s-]*(?:"([^"\n]*)"|'([^'\n]*)'|([\w.-]+))\s*:(?:\s|$)/

/** The key on the line or, if it has none, the last one before. Never a value, since that may be a secret. */
function nearKey(text: string, offset: number): string {
  const end = text.indexOf('\n', offset)
  const lines = text.slice(0, end < 0 ? text.length : end).split('\n')
  const key = lines.map((line) => KEY.exec(line)?.slice(1).find(Boolean)).findLast((found) => found)
  return key === undefined ? '' : `${key}: `
}

/** Whether JavaScript's numbers cannot hold this integer. It is kept as a bigint then, so that the issue can show it. */
function isRounded({ value, source }: Scalar): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER && /^\d+$/.test(source ?? '')
}
