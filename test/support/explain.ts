import type { Sql } from '@trunkline/gateway/src/core/database/database.ts'
import pg from 'pg'

export interface ExplainedSql extends Sql {
  /** Problems found in plans, each followed by the beginning of its statement. */
  readonly problems: ReadonlySet<string>
  /** Number of plans that were inspected. */
  readonly plans: number
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

interface Explained {
  readonly Plan: PlanNode
  readonly JIT?: unknown
}

/**
 * Wraps a connection so that each statement is explained twice before it runs: with the custom plan for its values and
 * with the generic plan, because PostgreSQL chooses between the two once a prepared statement has run a few times. Each
 * EXPLAIN ANALYZE executes the statement inside a transaction that is rolled back, so all statements must share this one
 * connection.
 *
 * @param problemsOf - what is a problem in a plan: by default scans of whole tables, and what {@link longScansOf} finds
 */
export function explainEach(
  sql: Sql,
  rowsReadMax: number,
  problemsOf: (plan: PlanNode, rowsReadMax: number) => Iterable<string> = scansOf,
): ExplainedSql {
  const problems = new Set<string>()
  let plans = 0
  let last: Promise<unknown> = Promise.resolve()

  async function inspect(text: string, explain: () => Promise<{ 'QUERY PLAN': Explained[] }[]>) {
    await sql.query('BEGIN')
    try {
      const [row] = await explain()
      const explained = row?.['QUERY PLAN'][0]
      if (explained === undefined) throw new Error('the statement was not explained')
      plans += 1
      const found = [
        ...problemsOf(explained.Plan, rowsReadMax),
        ...(explained.JIT === undefined ? [] : ['compiled']),
      ]
      for (const problem of found) problems.add(`${problem}: ${text.replace(/\s+/g, ' ').slice(0, 100)}`)
    } finally {
      await sql.query('ROLLBACK')
    }
  }

  async function run<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    await inspect(text, () => sql.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values))
    await sql.query(`PREPARE inspected AS ${text}`)
    await sql.query('SET plan_cache_mode = force_generic_plan')
    const literals = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    await inspect(text, () => sql.query(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE inspected${literals}`))
    await sql.query('RESET plan_cache_mode')
    await sql.query('DEALLOCATE inspected')
    return sql.query<Row>(text, values)
  }

  return {
    problems,
    get plans() {
      return plans
    },
    query<Row>(text: string, values: readonly unknown[] = []) {
      const result = last.then(() => run<Row>(text, values))
      last = result.catch(() => undefined)
      return result
    },
  }
}

/** A partial index that holds open calls only, so reading all of it is cheap. */
const ONLY_OPEN_CALLS = 'calls_open'
/** It has a handful of rows, which the planner rightly reads all. */
const FEW_ROWS = 'settings'

function* scansOf(plan: PlanNode, rowsReadMax: number): Generator<string> {
  yield* wholeScansOf(plan)
  yield* longScansOf(plan, rowsReadMax)
}

function* wholeScansOf(node: PlanNode): Generator<string> {
  const name = node['Relation Name'] ?? node['Index Name']
  const scan = `${node['Node Type']} of ${name}`
  if (node['Node Type'] === 'Seq Scan' && name !== FEW_ROWS) yield scan
  // Bitmap heap scans have their condition in the node below.
  const isWhole = /^(Index|Bitmap Index)/.test(node['Node Type']) && node['Index Cond'] === undefined
  if (isWhole && node['Index Name'] !== ONLY_OPEN_CALLS) yield `${scan} without a condition`
  for (const child of node.Plans ?? []) yield* wholeScansOf(child)
}

/** Scans that read more rows than they may, such as the one whose rows are sorted before a limit. */
export function* longScansOf(node: PlanNode, rowsReadMax: number): Generator<string> {
  const name = node['Relation Name'] ?? node['Index Name']
  const rows = rowsRead(node)
  if (name !== undefined && rows > rowsReadMax) yield `${node['Node Type']} of ${name} reads ${rows} rows`
  for (const child of node.Plans ?? []) yield* longScansOf(child, rowsReadMax)
}

function rowsRead(node: PlanNode): number {
  const each =
    (node['Actual Rows'] ?? 0) +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return each * (node['Actual Loops'] ?? 0)
}

function literal(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return pg.escapeLiteral(value)
  throw new Error(`no literal for ${typeof value}`)
}
