import { RefreshCw } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import {
  type Conditions,
  type FilterOf,
  filterOf,
  type ParametersOf,
  parametersOf,
  type Values,
} from '../filters/conditions.ts'
import { type Controls, ListFilters } from '../filters/list-filters.tsx'
import type { ListRange, RangeSearch, Times } from '../filters/range.ts'
import { useSession } from '../session/use-session.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { SaveCsv } from '../ui/save-csv.tsx'
import { type ListName, useListTexts } from './use-list-texts.ts'

interface ListPageProps<Of extends Conditions, Search> {
  /** Whose texts the page has. */
  readonly of: ListName
  readonly conditions: Of
  readonly range?: ListRange<Search>
  readonly search: Search
  onChange(changed: Values<Of> & RangeSearch): void
  /** The controls in sight, and those that are shown on demand. */
  readonly usual: Controls<Of>
  readonly more?: Controls<Of>
  readonly lead?: string
  /** The buttons of the page beside those of every list. */
  readonly actions?: ReactNode
  /** Reads all rows as the gateway writes them. */
  csv?(parameters: ParametersOf<Of> & Times): Promise<Response>
  readonly children: (filter: FilterOf<Of> & Times, now: Date) => ReactNode
}

/** The page of a list: its title, what can be done with it, its filters, and what they select. */
export function ListPage<Of extends Conditions, Search extends Values<Of> & RangeSearch>(
  props: ListPageProps<Of, Search>,
) {
  const { of, conditions, range, search, usual, more, onChange, actions, csv, children } = props
  const { text } = useListTexts(of)
  // Fixed until the list is refreshed, so that its pages follow each other.
  const [now, setNow] = useState(() => new Date())
  const times = useMemo(() => range?.times(search, now) ?? {}, [range, search, now])
  const filter = useMemo(() => ({ ...times, ...filterOf(conditions, search) }), [times, conditions, search])
  return (
    <Page
      title={text('title')}
      lead={props.lead ?? text('lead')}
      actions={
        <>
          {actions}
          {csv !== undefined && (
            <SaveCsv name={`${of}.csv`} read={() => csv({ ...times, ...parametersOf(conditions, search) })} />
          )}
          {range !== undefined && (
            <Button onClick={() => setNow(new Date())}>
              <RefreshCw aria-hidden />
              {text('refresh')}
            </Button>
          )}
        </>
      }
    >
      <ListFilters {...{ of, conditions, range, search, now, usual, onChange }} {...(more && { more })} />
      {children(filter, now)}
    </Page>
  )
}

interface ForAdminsProps {
  readonly of: ListName
  readonly title?: string
  readonly children: ReactNode
}

/** A page for administrators. Other users see a notice that says so. */
export function ForAdmins({ of, title, children }: ForAdminsProps) {
  const { text } = useListTexts(of)
  if (useSession().role === 'admin') return children
  return (
    <Page title={title ?? text('title')}>
      <Notice tone="info">{text('adminsOnly')}</Notice>
    </Page>
  )
}

interface Route<Search> {
  useSearch(): Search
  useNavigate(): (options: never) => unknown
}

/** What the address of a list says, and how to change a part of it. */
export function useAddress<Search extends object>(
  route: Route<Search>,
): readonly [Search, (changed: Partial<Search>) => void] {
  // The router knows the types of one route, and not those of any.
  const navigate = route.useNavigate() as (options: object) => unknown
  const change = (changed: Partial<Search>) =>
    void navigate({ search: (before: Search) => ({ ...before, ...changed }), replace: true })
  return [route.useSearch(), change]
}
