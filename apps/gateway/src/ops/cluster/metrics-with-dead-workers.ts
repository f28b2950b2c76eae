import { AggregatorRegistry } from 'prom-client'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import type { Report } from './messages.ts'

/**
 * The latest metrics of the workers, and what those that have ended had counted.
 *
 * A worker has a place, which its replacement takes over. Each place is added up by itself, and then the places in their
 * order: an addition of the same numbers in another order may round to a smaller sum, and a counter would go back.
 */
export class MetricsWithDeadWorkers {
  readonly #places = new Map<number, { past: Promise<Report>; latest: Report }>()

  receive(place: number, report: Report): void {
    this.#at(place).latest = report
  }

  /** Keeps the counters and histograms of the worker at this place. Its gauges are no longer true. */
  end(place: number): void {
    const at = this.#at(place)
    const counted = at.latest.filter(({ type }) => String(type) !== 'gauge')
    at.latest = []
    at.past = markRejectionHandled(at.past.then((past) => addUp([past, counted])))
  }

  /** The metrics of all places, and of this process, in Prometheus' text exposition format. */
  async text(own: Report): Promise<string> {
    const places = [...this.#places.entries()].sort(([one], [other]) => one - other)
    const sums = await Promise.all(places.map(async ([, { past, latest }]) => addUp([await past, latest])))
    return AggregatorRegistry.aggregate([...sums, own]).metrics()
  }

  #at(place: number) {
    let at = this.#places.get(place)
    if (at === undefined) {
      at = { past: markRejectionHandled(Promise.resolve<Report>([])), latest: [] }
      this.#places.set(place, at)
    }
    return at
  }
}

function addUp(reports: readonly Report[]): Promise<Report> {
  return AggregatorRegistry.aggregate([...reports]).getMetricsAsJSON()
}
