/**
 * The options of the field `totalCount` of a connection. Pothos passes the function that counts along with the page, so that
 * nothing is counted unless the field is selected, and nothing is read if only this field is.
 */
export const TOTAL_COUNT = {
  description: 'How many items there are on all pages.',
  extensions: { pothosPrismaTotalCount: true },
  resolve: (page: object): number | Promise<number> => (page as Counted).totalCount(),
}

/** The same for lists of which no more than 10,000 items are counted, since an exact count would read the whole table. */
export const BOUNDED_COUNT = {
  nullable: true,
  description:
    'How many items there are on all pages; null for more than 10,000. It is counted only if it is selected, and counts as a page of its own towards the rate limit.',
  extensions: { pothosPrismaTotalCount: true },
  resolve: (page: object): Promise<number | null> => (page as BoundedlyCounted).totalCount(),
} as const

interface BoundedlyCounted {
  totalCount(): Promise<number | null>
}

interface Counted {
  totalCount(): number | Promise<number>
}
