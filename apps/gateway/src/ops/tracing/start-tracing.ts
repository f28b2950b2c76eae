import type { Tracing, TracingDeps, TracingSettings } from './tracing.ts'

/** Loads what tracing needs, which takes 26 MB and a tenth of a second, and starts it. */
export async function startTracing(settings: TracingSettings, deps: TracingDeps): Promise<Tracing> {
  const { createTracing } = await import('./create-tracing.ts')
  return createTracing(settings, deps)
}
