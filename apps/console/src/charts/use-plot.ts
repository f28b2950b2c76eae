import { type ComponentType, useEffect, useState } from 'react'
import { loadPart } from '../ui/load-part.ts'
import type { PlotProps } from './plot.tsx'

let loaded: ComponentType<PlotProps> | undefined

async function loadPlot(): Promise<ComponentType<PlotProps>> {
  loaded ??= (await loadPart(() => import('./plot.tsx'))).default
  return loaded
}

/** Pages with a chart call it when they are loaded, so that uPlot arrives together with their data. */
export function preloadCharts(): void {
  // Where it fails, the chart tries again and says so.
  loadPlot().catch(() => {})
}

/**
 * The canvas of charts, undefined until it has been loaded. `lazy` of React would show it a third of a second late, since a
 * boundary that has suspended, even for a moment, is not revealed sooner.
 */
export function usePlot(): ComponentType<PlotProps> | undefined {
  const [plot, setPlot] = useState<ComponentType<PlotProps> | undefined>(() => loaded)
  useEffect(() => {
    if (plot !== undefined) return
    loadPlot().then(
      (component) => setPlot(() => component),
      (error: unknown) =>
        setPlot(() => {
          throw error
        }),
    )
  }, [plot])
  return plot
}
