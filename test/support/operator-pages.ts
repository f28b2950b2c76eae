import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
export const PROMETHEUS_FOLDER = join(ROOT, 'deploy/prometheus')
export const RUNBOOKS = 'docs/runbooks'

export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

/** A panel of the dashboard with its queries. */
export interface DashboardPanel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
  readonly options?: { readonly content?: string }
}

export const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

export const rulesText = () => read('deploy/prometheus/rules.yaml')

export function alertRules(): readonly Rule[] {
  return (parse(rulesText()) as { groups: readonly { rules: readonly Rule[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  )
}

export function dashboardPanels(): readonly DashboardPanel[] {
  return (JSON.parse(read('deploy/grafana/trunkline.json')) as { panels: readonly DashboardPanel[] }).panels
}

/** The names of the pages in docs/runbooks but for the index. */
export function runbookPages(): readonly string[] {
  const pages = globSync('*.md', { cwd: join(ROOT, RUNBOOKS) })
  return pages.filter((page) => page !== 'README.md').sort()
}
