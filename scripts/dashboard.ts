/** How a panel shows its queries. */
type Look = 'lines' | 'stat' | 'table'

interface Query {
  readonly expr: string
  /** How a series is named, in Grafana's notation. */
  readonly legend: string
}

interface Panel {
  readonly title: string
  readonly unit: string
  readonly look?: Look
  readonly queries: readonly Query[]
}

/** One question of an operator, with the page of the runbooks that answers it. */
interface Question {
  readonly title: string
  readonly page: string
  /** Where to look first, in Markdown. */
  readonly hint: string
  readonly panels: readonly Panel[]
}

/** What the variables of the dashboard have chosen. */
const HERE = 'instance=~"$instance"'
const AGENT = `${HERE},agent=~"$agent"`

const rate = (metric: string, labels = HERE) => `rate(${metric}{${labels}}[$__rate_interval])`
const sumBy = (by: string, metric: string, labels?: string) => `sum by (${by}) (${rate(metric, labels)})`
/** A quantile of a histogram, for each value of the labels. */
const quantile = (q: number, by: string, metric: string, labels?: string) =>
  `histogram_quantile(${q}, ${sumBy(`${by}, le`, `${metric}_bucket`, labels)})`

const QUESTIONS: readonly Question[] = [
  {
    title: 'Which agent is slow, and is it the platform or the gateway?',
    page: 'slow-agent.md',
    hint: 'The first panel is what clients feel. If only it rises, the platform is slow. If the second rises, it is the gateway; if the third does, more calls come than the agent has slots for.',
    panels: [
      {
        title: 'Time to the first text (95 %)',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'agent', 'trunkline_call_first_chunk_seconds', AGENT),
            legend: '{{agent}}',
          },
        ],
      },
      {
        title: "The gateway's own share (95 %)",
        unit: 's',
        queries: [
          { expr: quantile(0.95, 'agent', 'trunkline_call_own_seconds', AGENT), legend: '{{agent}}' },
        ],
      },
      {
        title: 'Wait for a slot (95 %)',
        unit: 's',
        queries: [
          { expr: quantile(0.95, 'agent', 'trunkline_call_wait_seconds', AGENT), legend: '{{agent}}' },
        ],
      },
      {
        title: 'Time of requests to platforms (95 %)',
        unit: 's',
        queries: [
          {
            expr: quantile(
              0.95,
              'gen_ai_provider_name, gen_ai_request_model',
              'gen_ai_client_operation_duration_seconds',
            ),
            legend: '{{gen_ai_provider_name}} {{gen_ai_request_model}}',
          },
        ],
      },
      {
        title: 'Calls by outcome',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy('agent, outcome', 'trunkline_calls_total', AGENT),
            legend: '{{agent}} {{outcome}}',
          },
        ],
      },
      {
        title: 'Failed attempts',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy(
              'agent, deployment, result',
              'trunkline_attempts_total',
              `${AGENT},result!~"done|cancelled"`,
            ),
            legend: '{{agent}}/{{deployment}} {{result}}',
          },
        ],
      },
      {
        title: 'Breakers (0 closed, 1 half open, 2 open)',
        unit: 'none',
        queries: [
          {
            expr: `max by (agent, deployment) (trunkline_breaker_state{${AGENT}})`,
            legend: '{{agent}}/{{deployment}}',
          },
        ],
      },
      {
        title: 'Calls in progress, and waiting for a slot',
        unit: 'none',
        queries: [
          {
            expr: `sum by (agent) (trunkline_agent_calls_in_flight{${AGENT}})`,
            legend: '{{agent}} in progress',
          },
          {
            expr: `sum by (agent) (trunkline_agent_calls_waiting{${AGENT}})`,
            legend: '{{agent}} waiting',
          },
        ],
      },
    ],
  },
  {
    title: 'Who is throttled?',
    page: 'who-is-throttled.md',
    hint: 'The panel says which limit refuses, the runbook how to find the keys and owners: they are not in metrics.',
    panels: [
      {
        title: 'Refusals by a limit',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy(
              'reason, limit',
              'trunkline_refusals_total',
              `${HERE},reason=~"rate_limited|agent_overloaded|agent_rate_limited"`,
            ),
            legend: '{{reason}} {{limit}}',
          },
        ],
      },
      {
        title: 'Every refusal',
        unit: 'reqps',
        queries: [
          { expr: sumBy('reason, limit', 'trunkline_refusals_total'), legend: '{{reason}} {{limit}}' },
        ],
      },
    ],
  },
  {
    title: 'Why are requests answered 503?',
    page: 'why-503.md',
    hint: 'The reason tells the agent (`agent_unavailable`, `agent_overloaded`) from the gateway (`unavailable`, `draining`), and the cause tells what the gateway lacks.',
    panels: [
      {
        title: '503 by route',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy('route', 'trunkline_http_requests_total', `${HERE},status="503"`),
            legend: '{{route}}',
          },
        ],
      },
      {
        title: 'Their reasons',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy(
              'reason',
              'trunkline_refusals_total',
              `${HERE},reason=~"unavailable|draining|agent_unavailable|agent_overloaded"`,
            ),
            legend: '{{reason}}',
          },
        ],
      },
      {
        title: 'Causes of unavailable',
        unit: 'reqps',
        queries: [{ expr: sumBy('cause', 'trunkline_unavailable_total'), legend: '{{cause}}' }],
      },
    ],
  },
  {
    title: 'Is the ledger behind?',
    page: 'ledger-behind.md',
    hint: 'The end of a call is written in the background. A few wait at any time; what matters is for how long.',
    panels: [
      {
        title: 'Oldest call whose end is not written',
        unit: 's',
        queries: [
          {
            expr: `max by (instance) (trunkline_oldest_unsettled_call_seconds{${HERE}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Ends of calls that wait',
        unit: 'none',
        queries: [
          {
            expr: `sum by (instance) (trunkline_settlements_waiting{${HERE}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Statements of the ledger (95 %)',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'statement', 'trunkline_ledger_batch_duration_seconds'),
            legend: '{{statement}}',
          },
        ],
      },
      {
        title: 'Failed statements',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy('statement, cause', 'trunkline_ledger_batch_failures_total'),
            legend: '{{statement}} {{cause}}',
          },
        ],
      },
      {
        title: 'Equations that do not hold',
        unit: 'none',
        look: 'stat',
        queries: [{ expr: `max(trunkline_usage_drift{${HERE}})`, legend: 'drift' }],
      },
      {
        title: 'Since the last check',
        unit: 's',
        look: 'stat',
        queries: [
          {
            expr: `time() - max(trunkline_usage_drift_checked_timestamp_seconds{${HERE}})`,
            legend: 'age',
          },
        ],
      },
    ],
  },
  {
    title: 'Which replica is bad?',
    page: 'bad-replica.md',
    hint: 'Each line is one replica. The bad one leaves the bundle.',
    panels: [
      {
        title: 'Reached by Prometheus',
        unit: 'none',
        queries: [{ expr: 'up{job="trunkline",instance=~"$instance"}', legend: '{{instance}}' }],
      },
      {
        title: 'Answers with 5xx',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy('instance', 'trunkline_http_requests_total', `${HERE},status=~"5.."`),
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Requests',
        unit: 'reqps',
        queries: [{ expr: sumBy('instance', 'trunkline_http_requests_total'), legend: '{{instance}}' }],
      },
      {
        title: "The gateway's own share of a call (95 %)",
        unit: 's',
        queries: [{ expr: quantile(0.95, 'instance', 'trunkline_call_own_seconds'), legend: '{{instance}}' }],
      },
      {
        title: 'Delay of the event loop (99 %)',
        unit: 's',
        queries: [
          {
            expr: quantile(0.99, 'instance', 'trunkline_event_loop_delay_seconds'),
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Processor',
        unit: 'percentunit',
        queries: [
          {
            expr: sumBy('instance', 'trunkline_process_cpu_seconds_total'),
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          {
            expr: `sum by (instance) (trunkline_process_resident_memory_bytes{${HERE}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Connections of clients, and open calls',
        unit: 'none',
        queries: [
          {
            expr: `sum by (instance) (trunkline_connections{${HERE}})`,
            legend: '{{instance}} connections',
          },
          {
            expr: `sum by (instance) (trunkline_calls_in_flight{${HERE}})`,
            legend: '{{instance}} calls',
          },
        ],
      },
    ],
  },
  {
    title: 'Who has used up a quota?',
    page: 'quota-used-up.md',
    hint: 'Quotas of users are the gateway’s (`quota_exceeded`), those of agents the platform’s (`agent_quota`). The runbook names who it is.',
    panels: [
      {
        title: 'Calls refused by a quota of the gateway',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy(
              'reason, limit',
              'trunkline_refusals_total',
              `${HERE},reason=~"quota_exceeded|upload_space_used_up"`,
            ),
            legend: '{{reason}} {{limit}}',
          },
        ],
      },
      {
        title: 'Attempts refused by a quota of a platform',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy('agent, deployment', 'trunkline_attempts_total', `${AGENT},result="agent_quota"`),
            legend: '{{agent}}/{{deployment}}',
          },
        ],
      },
      {
        title: 'Tokens',
        unit: 'none',
        queries: [
          {
            expr: sumBy('agent, kind', 'trunkline_tokens_total', AGENT),
            legend: '{{agent}} {{kind}} per second',
          },
        ],
      },
    ],
  },
  {
    title: 'Is a disk or the pool full?',
    page: 'disk-or-pool-full.md',
    hint: 'Statements wait only when every connection is in use: a database that is slow, or more load than it was made for.',
    panels: [
      {
        title: 'Disk of the database is full',
        unit: 'none',
        queries: [{ expr: `max by (instance) (trunkline_disk_full{${HERE}})`, legend: '{{instance}}' }],
      },
      {
        title: 'Free in DATA_DIR (embedded database)',
        unit: 'bytes',
        queries: [{ expr: `trunkline_data_dir_free_bytes{${HERE}}`, legend: '{{instance}}' }],
      },
      {
        title: 'Connections to the database',
        unit: 'none',
        queries: [
          {
            expr: `sum by (instance) (trunkline_database_connections{${HERE}})`,
            legend: '{{instance}} in use',
          },
          { expr: `trunkline_database_connections_max{${HERE}}`, legend: '{{instance}} at most' },
        ],
      },
      {
        title: 'Statements without a connection, by the kind of work',
        unit: 'none',
        queries: [
          {
            expr: `sum by (instance, lane) (trunkline_database_requests_waiting{${HERE}})`,
            legend: '{{instance}} {{lane}} waiting',
          },
          {
            expr: `sum by (instance, lane) (increase(trunkline_database_requests_refused_total{${HERE}}[$__rate_interval]))`,
            legend: '{{instance}} {{lane}} refused',
          },
        ],
      },
      {
        title: 'Redis shares the limits',
        unit: 'none',
        queries: [{ expr: `trunkline_limit_store_up{${HERE}}`, legend: '{{instance}}' }],
      },
      {
        title: 'Commands of Redis: time (95 %) and errors',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'instance', 'trunkline_limit_store_command_duration_seconds'),
            legend: '{{instance}} time',
          },
          {
            expr: sumBy('instance', 'trunkline_limit_store_errors_total'),
            legend: '{{instance}} errors per second',
          },
        ],
      },
      {
        title: 'Received in uploads',
        unit: 'Bps',
        queries: [{ expr: sumBy('instance', 'trunkline_upload_bytes_total'), legend: '{{instance}}' }],
      },
    ],
  },
  {
    title: "Are a platform's credentials failing?",
    page: 'failing-credentials.md',
    hint: 'A deployment whose key is refused rests for a while, and its calls go elsewhere or fail with `agent_credentials`.',
    panels: [
      {
        title: 'Attempts with refused credentials',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy(
              'agent, deployment',
              'trunkline_attempts_total',
              `${AGENT},result="agent_credentials"`,
            ),
            legend: '{{agent}}/{{deployment}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Which version runs where, and did a worker die?',
    page: 'versions-and-workers.md',
    hint: 'A worker that died is replaced within seconds; the log of the primary says how it ended.',
    panels: [
      {
        title: 'Versions',
        unit: 'none',
        look: 'table',
        queries: [
          {
            expr: `max by (instance, version, commit) (trunkline_build_info{${HERE}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Workers that died, in an hour',
        unit: 'none',
        queries: [
          {
            expr: `sum by (instance, cause) (increase(trunkline_worker_deaths_total{${HERE}}[1h]))`,
            legend: '{{instance}} {{cause}}',
          },
        ],
      },
      {
        title: 'Lost records: ends of calls, kept replies, refusals, log lines; faults',
        unit: 'none',
        queries: [
          {
            expr: `sum by (instance) (increase(trunkline_settle_failures_total{${HERE}}[1h]))`,
            legend: '{{instance}} ends of calls',
          },
          {
            expr: `sum by (instance) (increase(trunkline_replies_lost_total{${HERE}}[1h]))`,
            legend: '{{instance}} kept replies',
          },
          {
            expr: `sum by (instance) (increase(trunkline_refusals_dropped_total{${HERE}}[1h]))`,
            legend: '{{instance}} refusals',
          },
          {
            expr: `sum by (instance) (increase(trunkline_audit_dropped_total{${HERE}}[1h]))`,
            legend: '{{instance}} refused operations',
          },
          {
            expr: `sum by (instance) (increase(trunkline_log_lines_dropped_total{${HERE}}[1h]))`,
            legend: '{{instance}} log lines',
          },
          {
            expr: `sum by (instance) (increase(trunkline_stray_rejections_total{${HERE}}[1h]))`,
            legend: '{{instance}} unhandled rejections',
          },
        ],
      },
    ],
  },
  {
    title: 'What changed before it broke?',
    page: 'what-changed.md',
    hint: 'Compare these with the moment at which another panel changes. Changes of users and keys are in the audit log.',
    panels: [
      {
        title: 'Time since the start',
        unit: 's',
        queries: [
          {
            expr: `time() - max by (instance) (trunkline_started_timestamp_seconds{${HERE}})`,
            legend: '{{instance}}',
          },
        ],
      },
      {
        title: 'Replicas by version',
        unit: 'none',
        queries: [
          {
            expr: `count by (version, commit) (trunkline_build_info{${HERE}})`,
            legend: '{{version}} {{commit}}',
          },
        ],
      },
      {
        title: 'Requests of SDKs by version',
        unit: 'reqps',
        queries: [{ expr: sumBy('client', 'trunkline_sdk_requests_total'), legend: '{{client}}' }],
      },
      {
        title: 'Operations that change something',
        unit: 'reqps',
        queries: [
          {
            expr: sumBy(
              'route, method',
              'trunkline_http_requests_total',
              `${HERE},route=~"/api/v1/(users|api-keys).*",method=~"POST|PATCH|DELETE"`,
            ),
            legend: '{{method}} {{route}}',
          },
        ],
      },
    ],
  },
]

/** Grafana's grid has 24 columns. */
const WIDTH = 8
const HEIGHT = 7
const COLUMNS = 24
const DATASOURCE = { type: 'prometheus', uid: '$datasource' } as const

/** Returns the dashboard as Grafana imports it: a row for each question, in which a text leads to its runbook. */
export function printDashboard(): string {
  let id = 0
  let y = 0
  const panels: object[] = []
  const place = (panel: object, x: number, w: number, h: number) => {
    id += 1
    panels.push({ id, ...panel, gridPos: { x, y, w, h } })
  }
  for (const { title, page, hint, panels: ofQuestion } of QUESTIONS) {
    place({ type: 'row', title, collapsed: false, panels: [] }, 0, COLUMNS, 1)
    y += 1
    place(textPanel(`${hint} **[Runbook](\${runbooks}/${page})**`), 0, COLUMNS, 2)
    y += 2
    for (const [index, panel] of ofQuestion.entries()) {
      place(panelOf(panel), (index * WIDTH) % COLUMNS, WIDTH, HEIGHT)
      if ((index + 1) % (COLUMNS / WIDTH) === 0 || index === ofQuestion.length - 1) y += HEIGHT
    }
  }
  return `${JSON.stringify({ ...FRAME, panels }, null, 2)}\n`
}

function textPanel(content: string): object {
  return { type: 'text', title: '', transparent: true, options: { mode: 'markdown', content } }
}

const TYPES: Readonly<Record<Look, string>> = { lines: 'timeseries', stat: 'stat', table: 'table' }

function panelOf({ title, unit, look = 'lines', queries }: Panel): object {
  return {
    type: TYPES[look],
    title,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, ...(look === 'lines' && { min: 0 }) }, overrides: [] },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(look !== 'lines' && { instant: true }),
      ...(look === 'table' && { format: 'table' }),
    })),
  }
}

const FRAME = {
  uid: 'trunkline',
  title: 'Trunkline',
  description: 'Ten questions of an operator. Generated by `pnpm contract` from scripts/dashboard.ts.',
  tags: ['trunkline'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
      variableOf('instance', 'Replica', 'label_values(trunkline_build_info, instance)'),
      variableOf('agent', 'Agent', 'label_values(trunkline_agent_calls_waiting, agent)'),
      textVariable('runbooks', 'Runbooks at', 'docs/runbooks'),
    ],
  },
}

function variableOf(name: string, label: string, query: string): object {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { query, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  }
}

function textVariable(name: string, label: string, value: string): object {
  return { name, label, type: 'textbox', query: value, current: { text: value, value } }
}
