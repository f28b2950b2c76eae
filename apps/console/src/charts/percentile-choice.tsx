import { useTranslations } from 'use-intl'
import { Choices } from '../ui/fields/choices.tsx'
import { PERCENTILES, type Percentile } from './chart-data.ts'

interface PercentileChoiceProps {
  readonly value: Percentile
  onChange(value: Percentile): void
}

/** Which percentile of a time a chart shows. */
export function PercentileChoice(props: PercentileChoiceProps) {
  const t = useTranslations('charts')
  const options = PERCENTILES.map((value) => ({ value, label: value }))
  return <Choices label={t('percentile')} options={options} {...props} />
}
