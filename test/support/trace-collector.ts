import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A span as a collector gets it, with its attributes as an object and its times in nanoseconds. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly at: bigint; readonly attributes: object }[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isError: boolean
}

/** A receiver of OTLP over HTTP. */
export interface TraceCollector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  /** Everything that was sent, as it came. */
  readonly bodies: readonly string[]
  /** The attributes of the resource, as they came last. */
  readonly resource: Readonly<Record<string, unknown>>
  /** How many requests have come, answered or not. */
  readonly requests: number
  close(): Promise<void>
}

/** @param answers - whether it answers at all */
export async function startTraceCollector(answers = true): Promise<TraceCollector> {
  const spans: CollectedSpan[] = []
  const bodies: string[] = []
  let resource: Record<string, unknown> = {}
  let requests = 0
  const server = createServer(async (request, response) => {
    requests += 1
    const body = await text(request)
    if (!answers) return
    bodies.push(body)
    for (const each of JSON.parse(body).resourceSpans) {
      resource = attributesOf(each.resource)
      spans.push(...each.scopeSpans.flatMap((scope: Any) => scope.spans.map(spanOf)))
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    get resource() {
      return resource
    },
    get requests() {
      return requests
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of OTLP is read as it comes
type Any = any

function spanOf(span: Any): CollectedSpan {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId || undefined,
    name: span.name,
    kind: span.kind,
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: attributesOf(span),
    events: (span.events ?? []).map((event: Any) => ({
      name: event.name,
      at: BigInt(event.timeUnixNano),
      attributes: attributesOf(event),
    })),
    links: span.links ?? [],
    isError: span.status?.code === 2,
  }
}

function attributesOf({ attributes = [] }: Any): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }: Any) => [key, plainValue(value)]))
}

function plainValue(value: Any): unknown {
  if (value.arrayValue !== undefined) return value.arrayValue.values.map(plainValue)
  return 'intValue' in value ? Number(value.intValue) : Object.values(value)[0]
}
