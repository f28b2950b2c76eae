import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { Card } from '../ui/card.tsx'
import { Disclosure } from '../ui/disclosure.tsx'
import { SeriesTable } from './series-table.tsx'
import { TimeChart, type TimeChartProps } from './time-chart.tsx'

interface ChartCardProps extends TimeChartProps {
  readonly title: string
  /** Beside the title, such as a choice. */
  readonly aside?: ReactNode
}

/** A chart with its title, and the same numbers as a table on demand. */
export function ChartCard({ title, aside, ...chart }: ChartCardProps) {
  const t = useTranslations('charts')
  return (
    <Card title={title} aside={aside}>
      <TimeChart {...chart} />
      <Disclosure label={t('asTable')}>
        <SeriesTable label={title} data={chart.data} />
      </Disclosure>
    </Card>
  )
}
