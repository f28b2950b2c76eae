import 'uplot/dist/uPlot.min.css'
import { useEffect, useEffectEvent, useRef } from 'react'
import UPlot from 'uplot'
import type { ChartData, ChartSeries } from './chart-data.ts'
import { stack } from './stack.ts'
import { ticks, valueTicks } from './ticks.ts'
import styles from './time-chart.module.css'
import type { BucketFormat } from './use-bucket-format.ts'

export interface PlotProps {
  readonly data: ChartData
  readonly buckets: BucketFormat
  /** How values are written on the axis, where there is little room. */
  formatAxis(value: number): string
  /** The bucket under the pointer and its place from the left, or undefined when the pointer has left. */
  onPoint(point: { index: number; left: number; width: number } | undefined): void
  /** The bucket that the keyboard has walked to; it is pointed at as if by the pointer. */
  readonly walked: number | undefined
  /** The bucket that was clicked, and its layer or the bar of the period before, if one was hit. */
  onOpen(index: number, series: ChartSeries | undefined): void
  /** The same for a finger, which has to touch a bar to see its values. */
  onTouch(index: number, series: ChartSeries | undefined): void
  /** The first and the last bucket of what was dragged over. */
  onSelect?: ((first: number, last: number) => void) | undefined
  onDrawn?: (() => void) | undefined
}

/** In pixels of the page; uPlot itself draws in those of the device. */
const FONT = '12px "Inter Variable", system-ui, sans-serif'
/** The width in pixels that a name on the time axis needs. */
const TICK_WIDTH = 76
/** A shorter drag is a click. */
const DRAG_MIN = 6

/** The canvas of a chart. It is a file of its own, so that uPlot is loaded when a chart is shown. */
export default function Plot({
  data,
  buckets,
  walked,
  formatAxis,
  onPoint,
  onOpen,
  onTouch,
  onSelect,
  onDrawn,
}: PlotProps) {
  const host = useRef<HTMLDivElement>(null)
  const shown = useRef<UPlot>(undefined)
  const open = useEffectEvent(onOpen)
  const touch = useEffectEvent(onTouch)
  const point = useEffectEvent(onPoint)
  const select = useEffectEvent((first: number, last: number) => onSelect?.(first, last))
  const drawn = useEffectEvent(() => onDrawn?.())
  const isSelectable = onSelect !== undefined
  useEffect(() => {
    const element = host.current
    if (element === null) return
    const options: UPlot.Options = {
      width: element.clientWidth,
      height: element.clientHeight,
      padding: [10, 16, 0, 0],
      ...plotOf(data, buckets, formatAxis),
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: data.kind === 'lines' },
        drag: { x: isSelectable, y: false, setScale: false },
      },
      hooks: {
        setCursor: [
          (plot) => {
            const { idx, left = -1 } = plot.cursor
            if (idx === null || idx === undefined || left < 0) return point(undefined)
            const offset = plot.over.offsetLeft
            point({ index: idx, left: plot.valToPos(idx, 'x') + offset, width: plot.width })
          },
        ],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select
            if (width < DRAG_MIN) return
            const last = data.starts.length - 1
            const at = (pixels: number) => Math.min(last, Math.max(0, Math.round(plot.posToVal(pixels, 'x'))))
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            select(at(left), at(left + width))
          },
        ],
      },
    }
    const plot = new UPlot(options, alignedData(data), element)
    shown.current = plot
    plot.over.addEventListener(
      'click',
      ({ pointerType }: PointerEvent | (MouseEvent & { pointerType?: string })) => {
        const { idx, left = -1, top = -1 } = plot.cursor
        if (idx === null || idx === undefined) return
        const bars = data.before !== undefined && left < plot.valToPos(idx, 'x') ? data.before : data
        const layer = data.kind === 'bars' ? layerAt(bars.series, idx, plot.posToVal(top, 'y')) : undefined
        if (pointerType === 'touch') touch(idx, layer)
        else open(idx, layer)
      },
    )
    const observer = new ResizeObserver(() => {
      const { clientWidth: width, clientHeight: height } = element
      if (width !== plot.width || height !== plot.height) plot.setSize({ width, height })
    })
    observer.observe(element)
    // With its paths, because those of bars keep their colour.
    const stop = onThemeChange(() => plot.redraw())
    drawn()
    return () => {
      stop()
      observer.disconnect()
      shown.current = undefined
      plot.destroy()
      point(undefined)
    }
  }, [data, buckets, formatAxis, isSelectable])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chart is pointed at anew.
  useEffect(() => {
    const plot = shown.current
    if (plot === undefined) return
    const left = walked === undefined ? -10 : plot.valToPos(walked, 'x')
    plot.setCursor({ left, top: walked === undefined ? -10 : 0 })
  }, [walked, data])
  return <div className={styles.plot} ref={host} />
}

function plotOf(data: ChartData, buckets: BucketFormat, formatAxis: (value: number) => string) {
  const count = data.starts.length
  const line = { stroke: () => colourOf('--line'), width: 1 }
  const axis = { font: FONT, stroke: () => colourOf('--text-2') }
  const linesTo = (max: number) => valueTicks(max, data.kind)
  return {
    scales: {
      // The buckets one by one: in time itself, days of 23 and 25 hours and months would have bars of different widths.
      x: { time: false, range: (): UPlot.Range.MinMax => [-0.5, count - 0.5] },
      y: { range: (_: UPlot, __: number, max: number): UPlot.Range.MinMax => [0, linesTo(max).at(-1) ?? 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        ticks: { ...line, size: 5 },
        splits: (plot: UPlot) =>
          ticks(data, Math.max(1, Math.floor(plot.bbox.width / UPlot.pxRatio / TICK_WIDTH))),
        values: (_: UPlot, splits: number[]) =>
          splits.map((index) => buckets.short(data.starts[index] ?? '')),
      },
      {
        ...axis,
        grid: line,
        ticks: { show: false },
        splits: (_: UPlot, __: number, ___: number, max: number) => [0, ...linesTo(max)],
        values: (_: UPlot, splits: number[]) => splits.map(formatAxis),
        size: (plot: UPlot, values: string[] | null) => 14 + widthOf(plot, values ?? []),
      },
    ],
    series: [{}, ...seriesOf(data)],
  }
}

/** The width of the longest of some texts; Chinese characters are wider than Latin ones. */
function widthOf({ ctx }: UPlot, texts: readonly string[]): number {
  ctx.save()
  ctx.font = FONT
  const widths = texts.map((text) => ctx.measureText(text).width)
  ctx.restore()
  return Math.ceil(Math.max(14, ...widths))
}

function seriesOf({ series, kind, before }: ChartData): UPlot.Series[] {
  const seriesBefore = before?.series ?? []
  if (kind === 'lines') return [...series, ...seriesBefore].map(lineOf)
  // The period before is to the left of the middle of a bucket, as it was earlier, and this one to the right.
  return [...drawnOrder(series).map(barOf(before && 1)), ...seriesBefore.map(barOf(-1))]
}

function barOf(side?: 1 | -1) {
  const paths = UPlot.paths.bars?.({
    size: side === undefined ? [0.72, 48] : [0.36, 24],
    align: side ?? 0,
    radius: 0,
  })
  return ({ colour }: ChartSeries): UPlot.Series => ({
    fill: () => colourOf(colour),
    width: 0,
    points: { show: false },
    ...(paths !== undefined && { paths }),
  })
}

function lineOf({ colour, isDashed }: ChartSeries): UPlot.Series {
  return {
    stroke: () => colourOf(colour),
    width: 2,
    ...(isDashed === true && { dash: [6, 4] }),
    points: { show: true, size: 6, fill: () => colourOf(colour), filter: lonely },
  }
}

function alignedData({ starts, series, kind, before }: ChartData): UPlot.AlignedData {
  const values = series.map((one) => [...one.values])
  // The period before may have more buckets, or fewer.
  const valuesBefore = (before?.series ?? []).map((one) =>
    starts.map((_, index) => one.values[index] ?? null),
  )
  return [[...starts.keys()], ...(kind === 'lines' ? values : drawnOrder(stack(values))), ...valuesBefore]
}

/** The layer of bars at a height of a bucket; undefined above them. */
function layerAt(layers: readonly ChartSeries[], index: number, value: number): ChartSeries | undefined {
  if (value < 0) return undefined
  return layers[stack(layers.map(({ values }) => values)).findIndex((edges) => value <= (edges[index] ?? 0))]
}

/** Bars reach from the ground to their upper edge, so the highest are drawn first and covered by those below them. */
function drawnOrder<T>(items: readonly T[]): T[] {
  return items.toReversed()
}

/** Values without a neighbour, which no line would show. */
function lonely(plot: UPlot, seriesIndex: number): number[] {
  const values = plot.data[seriesIndex] ?? []
  const isValue = (index: number) => values[index] !== null && values[index] !== undefined
  return [...values.keys()].filter((index) => isValue(index) && !isValue(index - 1) && !isValue(index + 1))
}

/**
 * The colour that a custom property has now. The canvas does not know `light-dark()`, so an element resolves it.
 */
function colourOf(property: `--${string}`): string {
  probe ??= document.body.appendChild(document.createElement('i'))
  probe.hidden = true
  probe.style.color = `var(${property})`
  return getComputedStyle(probe).color
}

let probe: HTMLElement | undefined

/** Calls `listener` after the page has changed between light and dark, by the device or by the menu. */
function onThemeChange(listener: () => void): () => void {
  const device = matchMedia('(prefers-color-scheme: dark)')
  const menu = new MutationObserver(listener)
  device.addEventListener('change', listener)
  menu.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => {
    device.removeEventListener('change', listener)
    menu.disconnect()
  }
}
