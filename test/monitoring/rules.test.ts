import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describeMetrics } from '@trunkline/gateway/src/ops/metrics/describe-metrics.ts'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  alertRules,
  dashboardPanels,
  PROMETHEUS_FOLDER,
  RUNBOOKS,
  read,
  runbookPages,
} from '../support/operator-pages.ts'
import { hasPrometheus, promtool } from '../support/prometheus.ts'

// A process, because promtool, which is a program, decides when an alert fires.

describe.skipIf(!hasPrometheus())('promtool', () => {
  test('accepts the rules and the example of a configuration', async () => {
    const { code, output } = await promtool(['check', 'config', 'prometheus.example.yaml'], {
      cwd: PROMETHEUS_FOLDER,
    })
    expect([code, output]).toEqual([0, expect.stringContaining('rules found')])
  })

  test('sees every alert fire, and be quiet', async () => {
    const { code, output } = await promtool(['test', 'rules', 'rules.test.yaml'], { cwd: PROMETHEUS_FOLDER })
    expect([code, output]).toEqual([0, expect.stringContaining('SUCCESS')])
  })
})

test('every alert is tested, with a moment at which it fires and one at which it does not', () => {
  interface Case {
    readonly alert_rule_test: readonly {
      readonly alertname: string
      readonly exp_alerts?: readonly unknown[]
    }[]
  }
  const { tests } = parse(read('deploy/prometheus/rules.test.yaml')) as { tests: readonly Case[] }
  const moments = tests.flatMap(({ alert_rule_test: ofCase }) => ofCase)
  const names = (fires: boolean) =>
    new Set(
      moments
        .filter(({ exp_alerts: alerts = [] }) => alerts.length > 0 === fires)
        .map((each) => each.alertname),
    )
  const alerts = new Set(alertRules().map(({ alert }) => alert))
  expect(names(true)).toEqual(alerts)
  expect(names(false)).toEqual(alerts)
})

test('every alert says how urgent it is, what it is about, and where to read on', () => {
  const rows = [...read(`${RUNBOOKS}/README.md`).matchAll(/^\| (`\w+`) *\| (\w+) *\| (\S+) *\|$/gm)]
  const listed = new Map(rows.map(([, alert, ...cells]) => [alert, cells]))
  for (const { alert, labels, annotations, ...rule } of alertRules()) {
    expect(['page', 'ticket'], alert).toContain(labels.severity)
    expect(rule.for, alert).toMatch(/^\d+m$/)
    expect(annotations.summary, alert).toMatch(/\{\{.*\}\}/)
    const page = annotations.runbook_url.replace(`${RUNBOOKS}/`, '')
    expect(runbookPages(), alert).toContain(page)
    expect(read(annotations.runbook_url), alert).toContain(`\`${alert}\``)
    expect(listed.get(`\`${alert}\``), alert).toEqual([labels.severity, `[${page}](${page})`])
  }
})

test('every runbook says what it means, how to check it and what to do, and the index leads there', () => {
  const index = read(`${RUNBOOKS}/README.md`)
  for (const page of runbookPages()) {
    const headings = [...read(`${RUNBOOKS}/${page}`).matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(headings, page).toEqual(['Meaning', 'Check', 'Action'])
    expect(index, page).toContain(`](${page})`)
  }
})

test('every question of the dashboard leads to its runbook, and every question of the index is on it', () => {
  const panels = dashboardPanels()
  const rows = panels.filter(({ type }) => type === 'row').map(({ title }) => title)
  const pages = panels.flatMap(({ options }) =>
    [...(options?.content ?? '').matchAll(/\(\$\{runbooks\}\/([\w-]+\.md)\)/g)].map(([, page]) => page),
  )
  const [, questions = ''] = read(`${RUNBOOKS}/README.md`).split('## Questions')
  const listed = [
    ...questions
      .split('## ', 1)
      .join('')
      .matchAll(/^\d+\. \[(.*)\]\((.*)\)$/gm),
  ]
  expect(rows).toEqual(listed.map(([, title]) => title))
  expect(pages).toEqual(listed.map(([, , page]) => page))
})

test('every metric that rules, dashboard and documents name is one of /metrics', async () => {
  const described = await describeMetrics()
  const known = new Set(
    described.flatMap(({ name, type }) =>
      type === 'histogram' ? [name, ...['bucket', 'sum', 'count'].map((part) => `${name}_${part}`)] : [name],
    ),
  )
  const root = join(import.meta.dirname, '../..')
  const files = [
    'deploy/prometheus/rules.yaml',
    'deploy/prometheus/rules.test.yaml',
    'deploy/grafana/trunkline.json',
    ...globSync('{docs,docs/runbooks}/*.md', { cwd: root }),
  ]
  const unknown = files.flatMap((file) =>
    [...read(file).matchAll(NAMES)]
      .map(([name]) => name)
      .filter((name) => !known.has(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(unknown).toEqual([])
})

/** Whole names: those with a `*` stand for several, and databases and modules in examples are no metrics. */
const NAMES = /\b(?:trunkline|gen_ai_client)_[a-z0-9_]+\b(?![*-])(?<!trunkline_(?:restored|test|client))/g
