import { minBuildOf, stepOf, withoutComments } from './migration-step.ts'

// Linear time of all patterns here: not needed for our own migrations.

export interface Migration {
  readonly name: string
  readonly script: string
}

/**
 * Returns what is wrong with the migrations after the first one, which is the whole schema. Calls go on while they run, and
 * processes of the version before use the database meanwhile and afterwards.
 */
export function brokenRules([baseline, ...later]: readonly Migration[]): string[] {
  const earlier = baseline === undefined ? [] : [baseline]
  return later.flatMap((migration) => {
    const mistakes = [...mistakesOf(migration, earlier)]
    earlier.push(migration)
    return mistakes.map((mistake) => `${migration.name}: ${mistake}`)
  })
}

function* mistakesOf({ script }: Migration, earlier: readonly Migration[]): Generator<string> {
  const step = stepOf(script)
  const statements = statementsOf(script)
  const minBuild = minBuildOf(script)
  // A unique index is a migration of its own, so the one before it sets what it needs.
  const isContract = minBuild !== undefined || (step.kind === 'index' && setsMinBuild(earlier.at(-1)))
  if (minBuild !== undefined && !earlier.some(({ name }) => name === minBuild)) {
    yield `min_build names ${minBuild}, which is not an earlier migration`
  }
  if (step.kind !== 'transaction' && statements.length !== 1) {
    yield 'an index, or rows in slices, is a migration of its own, of one statement'
  }
  if (step.kind === 'slices') {
    if (!/\$1/.test(script) || !/\blimit\b/i.test(script)) yield 'a slice begins after $1 and has a LIMIT'
    return
  }
  const created = new Set(statements.flatMap((statement) => CREATE_TABLE.exec(statement)?.[1] ?? []))
  const locked = new Set(statements.flatMap(tablesOf).filter((table) => !created.has(table)))
  if (locked.size > 1)
    yield `it locks several tables at once (${[...locked].join(', ')}): write a migration for each`
  for (const statement of statements) {
    if (created.has(tableOf(statement) ?? '') || isReplaced(statement, statements)) continue
    for (const { pattern, mistake, contracts } of RULES) {
      if (pattern.test(statement) && !(contracts === true && isContract)) yield mistake
    }
  }
}

/** Whether a trigger is dropped that is made again in the same transaction, so that no process is ever without it. */
function isReplaced(statement: string, statements: readonly string[]): boolean {
  const dropped = /^drop\s+trigger\s+("?\w+"?)/i.exec(statement)?.[1]
  const made = statements.map((each) => /^create\s+(?:constraint\s+)?trigger\s+("?\w+"?)/i.exec(each)?.[1])
  return dropped !== undefined && made.includes(dropped)
}

function setsMinBuild(migration: Migration | undefined): boolean {
  return migration !== undefined && minBuildOf(migration.script) !== undefined
}

interface Rule {
  readonly pattern: RegExp
  readonly mistake: string
  /** It breaks processes of the version before, and nothing else: `min_build` keeps them away. */
  readonly contracts?: boolean
}

const CONTRACT =
  'it takes away what an older process may use: wait for the next release, and set min_build to a migration of the release that no longer uses it'

const RULES: readonly Rule[] = [
  { pattern: /\bdrop\s+(?:table|column|type|view|function|trigger)\b/i, mistake: CONTRACT, contracts: true },
  { pattern: /\brename\b/i, mistake: CONTRACT, contracts: true },
  { pattern: /\bdrop\s+default\b/i, mistake: CONTRACT, contracts: true },
  {
    pattern:
      /\badd\s+constraint\b(?:(?!\bforeign\s+key\b.*\bon\s+delete\b).)*\b(?:check|unique|exclude|foreign\s+key)\b/is,
    mistake: CONTRACT,
    contracts: true,
  },
  {
    pattern:
      /\badd\s+column\b(?:(?!\badd\s+column\b)(?!\bdefault\b).)*\bnot\s+null\b(?:(?!\badd\s+column\b)(?!\bdefault\b).)*(?:,|$)/is,
    mistake: 'a column that is NOT NULL needs a DEFAULT, because older processes do not fill it',
  },
  {
    pattern: /\bdefault\s+(?:gen_random_uuid|random|clock_timestamp|uuidv7|nextval)\b/i,
    mistake: 'a DEFAULT that differs by row rewrites the table under its lock: fill the rows in slices',
  },
  {
    pattern: /\balter\s+(?:column\s+)?"?\w+"?\s+(?:set\s+data\s+)?type\b/i,
    mistake: 'a new type rewrites the table under its lock: add a column and fill it in slices',
  },
  {
    pattern: /\bset\s+not\s+null\b/i,
    mistake:
      'SET NOT NULL reads the whole table under its lock: add a CHECK … NOT VALID and validate it in a migration of its own',
  },
  {
    pattern: /\badd\s+constraint\b(?!.*\bnot\s+valid\b)(?!.*\busing\s+index\b)/is,
    mistake:
      'a constraint on a table with rows is added as NOT VALID, and validated in a migration of its own; a unique one USING INDEX',
  },
  {
    pattern: /^create\s+(?:unique\s+)?index\s+(?!concurrently\b)|^drop\s+index\s+(?!concurrently\b)/i,
    mistake: 'an index of a table with rows is built and dropped CONCURRENTLY, in a migration of its own',
  },
  {
    pattern: /^create\s+unique\s+index\b/i,
    mistake: 'a unique index refuses what an older process may write: the migration before it sets min_build',
    contracts: true,
  },
  {
    pattern: /^(?:update|delete|insert)\b(?!\s+into\s+"?settings\b)/i,
    mistake: 'rows are filled, changed and deleted in slices, in a migration of their own',
  },
  {
    pattern: /^create\s+type\b.*\benum\b/is,
    mistake: 'words are text: an older process cannot read a new value of an enum',
  },
  {
    pattern: /^(?:begin|commit|start|lock|truncate|cluster|vacuum|reindex|set)\b/i,
    mistake: 'the gateway chooses transactions, locks and settings',
  },
]

const CREATE_TABLE = /^create\s+table\s+(?:if\s+not\s+exists\s+)?"?(\w+)"?/i
const TABLE =
  /^(?:alter\s+table\s+(?:only\s+)?|create\s+(?:unique\s+)?index\s+(?:concurrently\s+)?"?\w+"?\s+on\s+|(?:create\s+(?:constraint\s+)?|drop\s+)trigger\s[^;]*?\son\s+|drop\s+table\s+)"?(\w+)"?/is

/** The table that a statement changes. */
function tableOf(statement: string): string | undefined {
  return TABLE.exec(statement)?.[1]
}

/** The tables that a statement locks: a foreign key also locks the one that it refers to. */
function tablesOf(statement: string): string[] {
  const referred = [...statement.matchAll(/\breferences\s+"?(\w+)"?/gi)].map(([, table = '']) => table)
  return [tableOf(statement) ?? [], referred].flat()
}

/** No migration has a semicolon within a text, other than the body of a function between two `$$`. */
export function statementsOf(script: string): string[] {
  return [...withoutComments(script).matchAll(STATEMENT)]
    .map(([statement]) => statement.trim())
    .filter((statement) => statement !== '')
}

const STATEMENT = /(?:\$\$.*?\$\$|[^;])+/gs
