/**
 * What a migration does, which its text says. Each is numbered by its name, and can be repeated after a failure at any point:
 *
 * - `transaction`: its statements run in one transaction, which also records it.
 * - `index`: one index is built or dropped CONCURRENTLY, which no transaction allows.
 * - `slices`: one statement is repeated, each time for the next few rows, until none is left. It begins with the line
 *   `-- slices`; `$1` is the last key of the slice before, and null for the first.
 */
export type MigrationStep =
  | { readonly kind: 'transaction'; readonly sql: string }
  | {
      readonly kind: 'index'
      readonly does: 'create' | 'drop'
      readonly name: string
      readonly sql: string
      /** The same without CONCURRENTLY, for a database that nobody else uses. */
      readonly plain: string
    }
  | { readonly kind: 'slices'; readonly sql: string }

// Linear time of all patterns here: not needed for our own migrations.

export function stepOf(script: string): MigrationStep {
  if (/^-- slices\b/.test(script)) return { kind: 'slices', sql: withoutComments(script) }
  const sql = withoutComments(script)
  const [, verb, name] = CONCURRENTLY.exec(sql) ?? []
  if (verb === undefined || name === undefined) return { kind: 'transaction', sql: script }
  const does = /^create/i.test(verb) ? 'create' : 'drop'
  return { kind: 'index', does, name, sql, plain: sql.replace(/\sCONCURRENTLY\b/i, '') }
}

const CONCURRENTLY = /^(create(?:\s+unique)?|drop)\s+index\s+concurrently\s+"?(\w+)"?/i

/** The statements of a migration for a database that is empty and nobody else uses; none where only rows are filled. */
export function plainScript(script: string): string {
  const step = stepOf(script)
  if (step.kind === 'slices') return ''
  return step.kind === 'index' ? step.plain : step.sql
}

/** The migration that a process has to know from this one on, if it sets `min_build`. */
export function minBuildOf(script: string): string | undefined {
  return MIN_BUILD.exec(withoutComments(script))?.[1]
}

const MIN_BUILD = /insert\s+into\s+"?settings"?\s[^;]*'min_build'\s*,\s*'([^']+)'/i

/** No migration has `--` within a text. */
export function withoutComments(script: string): string {
  return script.replace(/--.*$/gm, '').trim()
}
