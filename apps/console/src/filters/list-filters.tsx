import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl'
import { useFormats } from '../format/use-formats.ts'
import { type ListName, useListTexts } from '../lists/use-list-texts.ts'
import { ChoiceFilter, OptionFilter } from './choice-filters.tsx'
import type { Condition, Conditions, Value, Values } from './conditions.ts'
import { FilterPanel } from './filter-panel.tsx'
import type { ListRange, RangeSearch } from './range.ts'
import { RangeFilter, TimeFilter } from './range-filter.tsx'
import { LeastFilter, ListSearch, SearchFilter } from './typed-filters.tsx'
import { useNames } from './use-names.ts'

/** In what the control of a condition differs from the usual one of its kind. */
export interface Control<Word extends string = string> {
  readonly label?: string
  /** What the condition is called where it is set, if not as its control. */
  readonly chip?: string
  /** The values to choose from; by default the words of the condition. */
  readonly options?: readonly Word[]
  /** A value in words. */
  textOf?(value: Word): string
  /** A control of its own. */
  readonly element?: ReactNode
}

/** The controls of conditions, in the order in which they are shown. */
export type Controls<Of extends Conditions> = {
  readonly [Name in keyof Of]?: Control<`${NonNullable<Values<Of>[Name]>}`>
}

interface ListFiltersProps<Of extends Conditions> {
  readonly of: ListName
  readonly conditions: Of
  readonly range?: ListRange<Values<Of> & RangeSearch> | undefined
  readonly search: Values<Of> & RangeSearch
  readonly now: Date
  /** Those in sight. */
  readonly usual: Controls<Of>
  /** Others, which are shown on demand, as are those of conditions that have no controls here. */
  readonly more?: Controls<Of>
  onChange(changed: Values<Of> & RangeSearch): void
}

/** The controls above a list, which change its address: those of its conditions and of its range. */
export function ListFilters<Of extends Conditions>(props: ListFiltersProps<Of>) {
  const { of, range, search, now, onChange } = props
  const { text } = useListTexts(of)
  const conditions = useNamedConditions(props)
  const change = (name: string, value: Value | undefined) =>
    onChange({ [name]: value } as Values<Of> & RangeSearch)
  const controls = (isUsual: boolean) =>
    conditions
      .filter((condition) => condition.isUsual === isUsual)
      .map((condition) => (
        <ConditionControl
          key={condition.name}
          condition={condition}
          onChange={(value) => change(condition.name, value)}
        />
      ))
  const set = conditions.flatMap(({ name, label, chip = label, value, textOf, isUsual }) =>
    value === undefined
      ? []
      : [{ label: chip, value: textOf(String(value)), isUsual, clear: () => change(name, undefined) }],
  )
  const more = controls(false)
  return (
    <>
      {range !== undefined && (
        <RangeFilter
          presets={range.presets}
          shown={range.shown(search, now)}
          search={search}
          start={range.times(search, now).from}
          onChange={(changed) => onChange(changed as Values<Of> & RangeSearch)}
        />
      )}
      <FilterPanel
        label={text('filters')}
        set={set}
        more={more.length === 0 ? undefined : more}
        search={
          'search' in props.conditions && (
            <ListSearch
              label={text('search')}
              value={search.search as string | undefined}
              onChange={(typed) => change('search', typed)}
            />
          )
        }
      >
        {controls(true)}
      </FilterPanel>
    </>
  )
}

interface NamedCondition extends Condition, Control {
  readonly name: string
  readonly label: string
  readonly value: Value | undefined
  readonly isUsual: boolean
  textOf(value: string): string
}

/** The conditions with their controls, the usual ones first. */
function useNamedConditions<Of extends Conditions>({
  of,
  conditions,
  usual,
  more = {},
  search,
}: ListFiltersProps<Of>): readonly NamedCondition[] {
  const { nameOf, wordOf } = useListTexts(of)
  const t = useTranslations('lists')
  const { count } = useFormats()
  const names = useNames(Object.values(conditions).map(({ kind }) => kind))
  const textIn = (name: string, { kind, words }: Condition, value: string): string => {
    if (kind === 'agent' || kind === 'key' || kind === 'user') return names(kind, value)
    if (kind === 'number') return `≥ ${count(Number(value))}`
    if (kind === 'flag') return t(value as 'true' | 'false')
    return words === undefined ? value : wordOf(name, value)
  }
  const controls: Controls<Conditions> = { ...usual, ...more }
  const order = [...Object.keys(controls), ...Object.keys(conditions)]
  return [...new Set(order)].flatMap((name) => {
    const condition = conditions[name]
    if (condition === undefined || condition.kind === 'search') return []
    return {
      ...{ label: nameOf(name), textOf: (value: string) => textIn(name, condition, value) },
      ...condition,
      ...controls[name],
      ...{ name, value: search[name], isUsual: name in usual },
    }
  })
}

interface ConditionControlProps {
  readonly condition: NamedCondition
  onChange(value: Value | undefined): void
}

function ConditionControl({ condition, onChange }: ConditionControlProps) {
  const { kind, words, label, value, textOf, element } = condition
  const text = value === undefined ? undefined : String(value)
  const { options = words ?? (kind === 'flag' ? ['true', 'false'] : undefined) } = condition
  if (element !== undefined) return element
  if (options !== undefined)
    return (
      <OptionFilter
        label={label}
        value={text}
        options={options.map((option) => [option, textOf(option)])}
        onChange={(chosen) => onChange(chosen === undefined ? undefined : chosenOf(kind, chosen))}
      />
    )
  // What is typed begins anew with each value that comes from elsewhere.
  switch (kind) {
    case 'agent':
    case 'key':
    case 'user':
      return <ChoiceFilter kind={kind} value={text} onChange={onChange} />
    case 'number':
      return <LeastFilter key={text} label={label} value={value as number | undefined} onChange={onChange} />
    case 'time':
      return <TimeFilter label={label} value={text} onChange={onChange} />
    default:
      return <SearchFilter key={text} {...{ label, onChange }} value={text} maxLength={condition.maxLength} />
  }
}

/** The value of an option. */
function chosenOf(kind: Condition['kind'], option: string): Value {
  if (kind === 'number') return Number(option)
  return kind === 'flag' ? option === 'true' : option
}
